import { type OpenapiDocument, operationsOf, type PlacedOperation } from './document.ts'
import { templateFinder } from './path-template.ts'

/** Returns a function that returns the operation of a request by its method and its URL. HEAD is described as GET. */
export function operationFinder(document: OpenapiDocument): (method: string, url: string) => PlacedOperation | undefined {
  const operations = new Map(operationsOf(document).map((placed) => [`${placed.method} ${placed.path}`, placed]))
  const findTemplate = templateFinder(Object.keys(document.paths ?? {}))
  return (method, url) =>
    operations.get(`${method === 'HEAD' ? 'get' : method.toLowerCase()} ${findTemplate(url.split('?', 1)[0] as string)}`)
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
    (operationOf(method, url)?.parameters ?? []).flatMap(({ in: place, required, name }) =>
      place === 'header' && required === true ? [name.toLowerCase()] : []
    )
}
