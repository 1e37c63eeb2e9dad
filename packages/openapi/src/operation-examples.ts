import { type Content, isJson, mapOperations, mapValues, type OpenapiDocument, type Parameter, type RequestBody } from './document.ts'
import { withExampleLinks } from './example-urls.ts'
import { exampleOf } from './examples.ts'

/** Returns a document in which path parameters and JSON bodies have an example, unless the author of the route gave one. */
export function withExamples(document: OpenapiDocument): OpenapiDocument {
  const { paths = {}, webhooks } = document
  return { ...document, paths: illustrated(paths), ...(webhooks && { webhooks: illustrated(webhooks) }) }

  function illustrated(items: NonNullable<OpenapiDocument['paths']>) {
    return mapOperations(items, (path, method, operation) => {
      const { parameters, responses = {} } = operation
      const request = operation.requestBody as RequestBody | undefined
      return {
        ...operation,
        ...(parameters !== undefined && { parameters: (parameters as readonly Parameter[]).map(withParameterExample) }),
        ...(request !== undefined && { requestBody: { ...request, content: withExample(request.content, (example) => example) } }),
        responses: mapValues(responses, (response, status) => {
          if (!('content' in response) || response.content === undefined) return response
          const content = withExample(response.content, (example) => withExampleLinks(example, { path, method, status }, document))
          return { ...response, content }
        })
      }
    })
  }

  function withParameterExample(parameter: Parameter): Parameter {
    const { in: where, name, schema = {} } = parameter
    return where === 'path' ? { ...parameter, example: exampleOf(schema, document, 0, name) } : parameter
  }

  function withExample(content: Content, complete: (example: unknown) => unknown): Content {
    return mapValues(content, (media, type) => {
      if (!isJson(type) || media.schema === undefined || media.examples !== undefined || media.example !== undefined) return media
      const example = exampleOf(media.schema, document)
      return example === undefined ? media : { ...media, example: complete(example) }
    })
  }
}
