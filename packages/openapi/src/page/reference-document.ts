import { isObject } from '@concordat/plugin-kit/json-schema'
import { follow, type MediaType, mapOperations, mapValues, type OpenapiDocument, type Response } from '../document/document.ts'
import { urlOf } from '../examples/operation-examples.ts'

/**
 * Returns the form of a document that the reference page shows. Of the errors, an operation lists the statuses with an error of its own; the others,
 * which nearly every operation shares, are together in `default`, the last. The examples of errors are about the operation that they belong to. The
 * introduction links to the document itself, at `url`.
 */
export function referenceDocument(document: OpenapiDocument, ownErrors: ReadonlySet<string>, url: string): OpenapiDocument {
  const shown = mapOperations(document.paths ?? {}, (path, method, { responses = {}, ...operation }) => {
    const self = { rel: 'self', href: urlOf(path, document), method: method.toUpperCase() }
    const all = Object.entries(responses).flatMap(([status, given]): [string, Response][] => {
      const response = follow<Response>(document, given)
      return response === undefined ? [] : [[status, about(response, self)]]
    })
    const shared = all.filter(([status, response]) => Number(status) >= 400 && isShared(response))
    const others = all.filter((one) => !shared.includes(one))
    return { ...operation, responses: { ...Object.fromEntries(others), ...(shared.length > 0 && { default: folded(shared) }) } }
  })
  const description = `[The OpenAPI document](${url})\n\n${document.info.description ?? ''}`
  return { ...document, info: { ...document.info, description }, paths: shown }

  function isShared(response: Response) {
    const codes = codesOf(response)
    return codes.length > 0 && !codes.some((code) => ownErrors.has(code))
  }
}

function mediaOf({ content }: Response): MediaType | undefined {
  return content?.['application/json']
}

/** Returns the error codes of a response. Other responses have no examples by name. */
function codesOf(response: Response): readonly string[] {
  return Object.keys(mediaOf(response)?.examples ?? {})
}

function about(response: Response, self: object): Response {
  const media = mediaOf(response)
  if (media?.examples === undefined) return response
  const examples = mapValues(media.examples, (example) =>
    isObject(example) && isObject(example['value']) ? { ...example, value: { ...example['value'], _links: [self] } } : example
  )
  return { ...response, content: { ...response.content, 'application/json': { ...media, examples } } }
}

function folded(shared: readonly [status: string, response: Response][]): Response {
  const lines = shared.map(([status, { description }]) => `- **${status}** ${description}`)
  const [first] = shared as [[string, Response]]
  const examples = Object.assign({}, ...shared.map(([, response]) => mediaOf(response)?.examples))
  const codes = Object.keys(examples)
  const schema = JSON.parse(JSON.stringify(mediaOf(first[1])?.schema ?? {}), (key, value) => (key === 'enum' ? codes : value))
  return {
    description: `Errors that other operations have too.\n\n${lines.join('\n')}`,
    content: { 'application/json': { schema, examples } }
  }
}
