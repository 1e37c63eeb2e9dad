import { follow, type OpenapiDocument, type Operation, operationsOf, type Parameter } from './document.ts'

/** Returns a function that returns the operation of a request by its method and its URL. HEAD is described as GET. */
export function operationFinder(document: OpenapiDocument): (method: string, url: string) => Operation | undefined {
  // A brace sorts after every character of a literal, so a literal segment wins over a parameter.
  const operations = operationsOf(document)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, method, operation }) => ({ method, operation, pattern: patternOf(path) }))
  return (method, url) => {
    const [path, sought] = [url.replace(/\?.*$/s, ''), method === 'HEAD' ? 'get' : method.toLowerCase()]
    return operations.find((one) => one.method === sought && one.pattern.test(path))?.operation
  }
}

function patternOf(path: string) {
  const literals = path.split(/\{[^}]*\}/).map((text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${literals.join('[^/]+')}/?$`)
}

/** Returns the lower-case names of the headers without which a request is refused, by its method and its URL. */
export type RequiredHeaders = (method: string, url: string) => readonly string[]

/**
 * Creates a function that returns which headers a document requires of a request, such as `idempotency-key`. For clients that send what an API
 * requires.
 */
export function requiredHeaders(document: OpenapiDocument): RequiredHeaders {
  const operationOf = operationFinder(document)
  return (method, url) =>
    (operationOf(method, url)?.parameters ?? []).flatMap((one) => {
      const parameter = follow<Parameter>(document, one)
      return parameter?.in === 'header' && parameter.required === true ? [parameter.name.toLowerCase()] : []
    })
}
