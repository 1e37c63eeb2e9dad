import {
  isJson,
  type MediaType,
  mapOperations,
  type OpenapiDocument,
  type Operation,
  type Parameter,
  type RequestBody
} from './document.ts'
import { withExampleLinks } from './example-urls.ts'
import { exampleOf } from './examples.ts'

/** Returns a document in which path parameters and JSON bodies have an example, unless the author of the route gave one. */
export function withExamples(document: OpenapiDocument): OpenapiDocument {
  const { paths = {}, webhooks } = document
  return {
    ...document,
    paths: mapOperations(paths, illustrated),
    ...(webhooks && { webhooks: mapOperations(webhooks, illustrated) })
  }

  function illustrated(path: string, method: string, operation: Operation): Operation {
    const request = operation.requestBody as RequestBody | undefined
    const responses = Object.entries(operation.responses ?? {}).map(([status, response]) => {
      if (!('content' in response) || response.content === undefined) return [status, response]
      const content = withExample(response.content, (example) => withExampleLinks(example, { path, method, status }, document))
      return [status, { ...response, content }]
    })
    const parameters = (operation.parameters as readonly Parameter[] | undefined)?.map((parameter) => {
      const { in: where, name, schema = {} } = parameter
      return where === 'path' ? { ...parameter, example: exampleOf(schema, document, 0, name) } : parameter
    })
    return {
      ...operation,
      ...(parameters !== undefined && { parameters }),
      ...(request !== undefined && { requestBody: { ...request, content: withExample(request.content, (example) => example) } }),
      responses: Object.fromEntries(responses)
    }
  }

  function withExample(content: Readonly<Record<string, MediaType>>, complete: (example: unknown) => unknown) {
    return Object.fromEntries(
      Object.entries(content).map(([type, media]) => {
        if (!isJson(type) || media.schema === undefined || media.examples !== undefined || media.example !== undefined) return [type, media]
        const example = exampleOf(media.schema, document)
        return [type, example === undefined ? media : { ...media, example: complete(example) }]
      })
    )
  }
}
