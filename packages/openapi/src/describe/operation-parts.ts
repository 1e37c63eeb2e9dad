import { isObject } from '@concordat/plugin-kit/json-schema'
import { type DescribedRoute, perPageOf, type RouteConfig } from '../document/described-route.ts'
import { type Header, mapValues, type Parameter } from '../document/document.ts'
import type { OperationParts, VersionToDescribe } from '../options.ts'
import { keyPattern } from './bounds.ts'
import { maxLengthOfPattern } from './pattern-length.ts'
import type { DescribedLimits, DocumentSettings } from './published-facts.ts'
import { exampleTag, knownHeaders, references } from './response-headers.ts'

type Headers = NonNullable<OperationParts['headers']>

/** Returns the additions to the description of an operation that follow from the config of its route and from the options. */
export function partsOf(route: DescribedRoute, version: VersionToDescribe, settings: DocumentSettings): readonly OperationParts[] {
  const { config = {} } = route
  const contributed = settings.operations.map((part) => part(route))
  const own = [
    ...[accessParts, collectionParts].map((part) => part(config)),
    config.projection && { parameters: config.projection.parameters },
    ...[idempotencyParts, ownHeaders].map((part) => part(config)),
    cachingParts(route, settings),
    ...contributed.map(({ limits }) => limitParts(limits)),
    version.digest !== undefined && { headers: headers(['Description-Digest']) },
    version.ending && { headers: headers(['Deprecation', 'Sunset', 'Link']) },
    { headers: headers(['Location'], ['201', '202', '301', '303']) },
    bodyLimitParts(route)
  ]
  return [...own, ...contributed, ...settings.parts.map((part) => part(route))].filter((part) => part !== undefined && part !== false)
}

function accessParts({ permissions }: RouteConfig): OperationParts | undefined {
  if (permissions === undefined || permissions.length === 0) return undefined
  return {
    notes: [`Requires the permission ${permissions.map((name) => `\`${name}\``).join(' and ')}.`],
    extensions: { 'x-permissions': permissions }
  }
}

function collectionParts({ collection }: RouteConfig): OperationParts | undefined {
  if (collection === undefined) return undefined
  const { style, parameters, sorts, defaultSort, filters, count, maxOffset } = collection
  const { default: defaultPerPage, maximum: maxPerPage } = perPageOf(collection)
  const bounded = parameters.map((one) => (one.name === 'page' ? { ...one, schema: { ...one.schema, maximum: maxOffset } } : one))
  const filterText = [...filters].map(([field, operators]) => `\`${field}\` (${operators.join(', ')})`).join(', ')
  return {
    parameters: bounded,
    notes: [
      style === 'page' ? 'The list is paginated by page number.' : 'The list is paginated by cursor. Follow the links.',
      `It can be sorted by ${Array.from(sorts.keys(), (sort) => `\`${sort}\``).join(', ')}. The default order is \`${defaultSort}\`.`,
      filterText === '' ? 'It has no filters.' : `It can be filtered by ${filterText}.`
    ],
    extensions: {
      'x-pagination': { style, defaultPerPage, maxPerPage, ...(style === 'page' && { maxOffset }), count },
      'x-sortable': [...sorts.keys()],
      'x-filterable': Object.fromEntries(filters)
    }
  }
}

function idempotencyParts({ idempotency }: RouteConfig): OperationParts | undefined {
  const key = isObject(idempotency) ? idempotency['key'] : idempotency
  if (key !== 'required' && key !== 'accepted') return undefined
  const isRequired = key === 'required'
  const description = 'A random key. Use a new key for each new request, and the same key for each retry.'
  const example = isRequired ? '8e03978e-40d5-43e8-bc93-6894a57f9324' : undefined
  return {
    parameters: [header('Idempotency-Key', description, { pattern: keyPattern, maxLength: maxLengthOfPattern(keyPattern) }, example)],
    headers: headers(['Idempotency-Replayed', 'Idempotency-Status'], ['2XX', '4XX', '5XX']),
    notes: [
      isRequired
        ? 'Requires an `Idempotency-Key`: a retry with the same key returns the response of the first request.'
        : 'A retry with the same `Idempotency-Key` returns the response of the first request.'
    ],
    extensions: { 'x-idempotency': key }
  }
}

function cachingParts({ method, config = {} }: DescribedRoute, { defaultCache }: DocumentSettings): OperationParts | undefined {
  const { cache = defaultCache, validator, requireIfMatch } = config
  if (method === 'GET') {
    if (cache === undefined && validator === undefined) return undefined
    // A validator may know the time of the last change.
    const kept = ['Cache-Control', cache !== 'no-store' && 'ETag', validator !== undefined && 'Last-Modified'].filter(
      (name) => name !== false
    )
    const notModified = { description: 'Not modified: the representation that the client has is current.', headers: references(kept) }
    return {
      headers: { ...headers(kept, ['2XX']), ...(cache !== 'no-store' && headers(['ETag'], ['2XX', '412'])) },
      ...(cache !== 'no-store' && {
        parameters: [
          header('If-None-Match', 'The ETag of the representation that the client has.', { maxLength: 4096 }),
          header('If-Modified-Since', 'The Last-Modified date of the representation that the client has.', { maxLength: 33 })
        ],
        responses: { 304: notModified }
      })
    }
  }
  if (validator === undefined && requireIfMatch !== true) return undefined
  const isRequired = requireIfMatch === true && method !== 'PUT'
  return {
    headers: headers(['ETag'], method === 'PUT' ? ['412'] : ['200', '201', '412']),
    parameters: [
      header('If-Match', 'The ETag of the state that the change applies to.', { maxLength: 4096 }, isRequired ? exampleTag : undefined)
    ],
    notes: [
      `The change is made only if the state of the resource matches \`If-Match\`${requireIfMatch === true ? ', which is required' : ''}.`
    ],
    extensions: { 'x-if-match': requireIfMatch === true ? 'required' : 'accepted' }
  }
}

function ownHeaders({ openapi }: RouteConfig): OperationParts {
  const described = (openapi || {}).headers ?? {}
  return { headers: mapValues(described, (description) => ({ description, schema: { type: 'string' }, statuses: ['2XX'] })) }
}

function limitParts(limits: DescribedLimits | undefined): OperationParts | undefined {
  if (limits === undefined || limits.policies.length === 0) return undefined
  const { cost, policies } = limits
  const texts = policies.map(
    ({ name, scope, limit, windowSeconds, tier }) =>
      `${limit} requests in ${windowSeconds} s per ${scope}${tier === undefined ? '' : ` in the tier ${tier}`} (\`${name}\`)`
  )
  return {
    headers: headers(['RateLimit', 'RateLimit-Policy']),
    notes: [`Limited to ${texts.join(', ')}.${cost === 1 ? '' : ` Each request counts as ${cost} requests.`}`],
    extensions: { 'x-rate-limits': { cost, policies } }
  }
}

function bodyLimitParts({ bodyLimit, schema, config }: DescribedRoute): OperationParts | undefined {
  if (bodyLimit === undefined || (schema?.body === undefined && config?.consumes === undefined)) return undefined
  return { notes: [`The body can have at most ${bodyLimit} bytes.`], extensions: { 'x-body-limit-bytes': bodyLimit } }
}

// A header with an example is required. Tools put it into samples of requests.
function header(name: string, description: string, limits: object = {}, example?: string): Parameter {
  const schema = { type: 'string', ...limits, ...(example !== undefined && { examples: [example] }) }
  return { name, in: 'header', required: example !== undefined, description, schema }
}

function headers(names: readonly string[], statuses?: readonly string[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { ...(knownHeaders[name] as Header), ...(statuses && { statuses }) }]))
}
