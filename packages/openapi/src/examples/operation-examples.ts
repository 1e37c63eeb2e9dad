import { isObject } from '@concordat/plugin-kit/json-schema'
import {
  type Content,
  isJson,
  mapOperations,
  mapValues,
  type OpenapiDocument,
  operationsIn,
  type Parameter,
  type RequestBody
} from '../document/document.ts'
import type { Settings, VersionToDescribe } from '../options.ts'
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

/** Returns the URL of a version in examples: on the server of the document, or on `api.example.com` while its URL is unknown. */
export function exampleRoot({ publicUrl = '/' }: Settings, { name }: VersionToDescribe): string {
  return `${serverOf(publicUrl)}/${name}`
}

function serverOf(url: string) {
  return url === '/' ? 'https://api.example.com' : url
}

// The example of a response with links to example resources, on the server of the document.
function withExampleLinks(
  example: unknown,
  { path, method, status }: { readonly path: string; readonly method: string; readonly status: string },
  document: OpenapiDocument
): unknown {
  const request = urlOf(path, document)
  const itemPath = Object.keys(document.paths ?? {}).find((one) => one.startsWith(path) && /^\/\{[^/]*\}$/.test(one.slice(path.length)))
  const item = itemPath === undefined ? undefined : urlOf(itemPath, document)
  if (!isObject(example)) return example
  const self = status === '201' && item !== undefined ? { href: item, method: 'GET' } : { href: request, method: method.toUpperCase() }
  return {
    ...(withHrefs(example, item ?? request) as object),
    ...(Array.isArray(example['_links']) && { _links: [{ rel: 'self', ...self }] })
  }
}

function withHrefs(value: unknown, href: string, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withHrefs(one, href, name))
  if (!isObject(value)) return value
  if (name === '_links' && 'href' in value) return { ...value, href }
  return mapValues(value, (member, key) => withHrefs(member, href, key))
}

/** Returns the URL of a path in examples. */
export function urlOf(path: string, document: OpenapiDocument): string {
  const parameters = operationsIn(document.paths?.[path] ?? {}).flatMap(
    ([, operation]) => (operation.parameters ?? []) as readonly Parameter[]
  )
  const filled = path.replaceAll(/\{([^}]*)\}/g, (_all, name: string) => {
    const { schema = {} } = parameters.findLast((one) => one.in === 'path' && one.name === name) ?? {}
    const value = exampleOf(schema, document, 0, name)
    return encodeURIComponent(typeof value === 'string' || typeof value === 'number' ? value : name)
  })
  return serverOf(document.servers?.[0]?.url ?? '/') + filled
}
