import { isObject } from '@concordat/json-schema'
import { follow, type OpenapiDocument, operationsIn, type Parameter } from './document.ts'
import { exampleOf } from './examples.ts'
import type { Settings, VersionToDescribe } from './options.ts'

/** Returns the URL of a version in examples: on the server of the document, or on `api.example.com` while its URL is unknown. */
export function exampleRoot({ publicUrl }: Pick<Settings, 'publicUrl'>, { name }: Pick<VersionToDescribe, 'name'>): string {
  return `${serverOf(publicUrl ?? '/')}/${name}`
}

function serverOf(url: string) {
  return url === '/' ? 'https://api.example.com' : url
}

/** Returns the example of a response with links to example resources, on the server of the document. */
export function withExampleLinks(
  example: unknown,
  { path, method, status }: { readonly path: string; readonly method: string; readonly status: string },
  document: OpenapiDocument
): unknown {
  const request = urlOf(path, document)
  const itemPath = Object.keys(document.paths ?? {}).find(
    (other) => other.startsWith(`${path}/{`) && /^\/\{[^/]*\}$/.test(other.slice(path.length))
  )
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
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withHrefs(member, href, key)]))
}

function urlOf(path: string, document: OpenapiDocument) {
  const parameters = operationsIn(document.paths?.[path] ?? {}).flatMap(([, operation]) => operation.parameters ?? [])
  const known = new Map(
    parameters.flatMap((one) => {
      const parameter = follow<Parameter>(document, one)
      return parameter?.in === 'path' ? [[parameter.name, parameter.schema ?? {}] as const] : []
    })
  )
  const filled = path.replaceAll(/\{([^}]*)\}/g, (_all, name: string) => {
    const value = exampleOf(known.get(name) ?? {}, document, 0, name)
    return encodeURIComponent(typeof value === 'string' || typeof value === 'number' ? value : name)
  })
  return serverOf(document.servers?.[0]?.url ?? '/') + filled
}
