import { hash } from 'node:crypto'
import type { Contracts } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { codingOf } from './content-coding.ts'
import { isOpaque } from './entity-tag.ts'
import type { Settings } from './options.ts'

const separator = '~'
// 66 bits of a hash: two representations of one version share them by chance once in 10^19.
const digestLength = 11
const maxKnown = 200
// The description of a service publishes it, with quotes and a content coding.
const maxTagLength = 256

type Negotiated = () => Contracts['negotiated'] | undefined

/** What a response says about its representation, by default the media type that the request accepts and no language. */
interface SentRepresentation {
  readonly language?: string | undefined
  readonly mediaType?: string | undefined
}

/** Returns a string that identifies the representation in the response to a request, apart from the version of the resource. */
export type RepresentationOf = (request: FastifyRequest, sent?: SentRepresentation) => string

/** Identifies representations by a hash of the response schema, API version, query, media type, language and tenant. */
export function representationsOf(
  instance: FastifyInstance,
  route: RouteOptions | undefined,
  { revision, tenantOf }: Pick<Settings, 'revision' | 'tenantOf'>,
  negotiated: Negotiated
): RepresentationOf {
  let schema: string | undefined
  const names = new Map<string, string>()
  // The names without a query, a language and a tenant, by media type.
  const plainNames = new Map<string, string>()
  // Media types in the form of the key, by their form in a header.
  const types = new Map<string, string>()

  return (request, { language = '', mediaType = negotiated()?.mediaTypeOf(request) ?? 'application/json' } = {}) => {
    const { url = '' } = request.raw
    const start = url.indexOf('?')
    const tenant = tenantOf(request) ?? ''
    if (start !== -1 || language !== '' || tenant !== '') return nameOf(mediaType, language, start === -1 ? '' : url.slice(start), tenant)
    const known = plainNames.get(mediaType)
    if (known !== undefined) return known
    const name = nameOf(mediaType, '', '', '')
    if (plainNames.size < maxKnown) plainNames.set(mediaType, name)
    return name
  }

  function nameOf(mediaType: string, language: string, query: string, tenant: string): string {
    const key = [schemaName(), typeName(mediaType), language, query, ...(tenant === '' ? [] : [tenant])].join('\n')
    const known = names.get(key)
    if (known !== undefined) return known
    const name = hash('sha256', key, 'base64url').slice(0, digestLength)
    if (names.size < maxKnown) names.set(key, name)
    return name
  }

  function typeName(mediaType: string): string {
    const known = types.get(mediaType)
    if (known !== undefined) return known
    const type = mediaType.replace(/ *;.*$/s, '').toLowerCase()
    if (types.size < maxKnown) types.set(mediaType, type)
    return type
  }

  // A release that changes the schema changes the name, without a setting. The responses to a creation and to a read have the same schema.
  function schemaName(): string {
    if (schema === undefined) {
      const declared = Object.entries((route?.schema?.response ?? {}) as Readonly<Record<string, unknown>>)
      const success = declared.find(([status]) => status.startsWith('2'))?.[1]
      schema = hash('sha256', [instance.prefix, revision, textOf(success, (id) => instance.getSchema(id))].join('\n'), 'base64url')
    }
    return schema
  }
}

// The ids of shared schemas can be numbers that differ between releases, so the schema itself is inserted, once in a chain of references.
function textOf(schema: unknown, lookUp: (id: string) => unknown, open: readonly string[] = []): string {
  return (
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === '$id') return undefined
      if (key !== '$ref' || typeof value !== 'string' || open.includes(value)) return value
      const [id = '', pointer = ''] = value.split('#')
      const target = id === '' ? undefined : lookUp(id)
      return target === undefined ? value : `${textOf(target, lookUp, [...open, value])}#${pointer}`
    }) ?? ''
  )
}

/**
 * Returns the entity tag of a version in a representation, without quotes: the version, which `If-Match` compares, and the representation.
 * Throws a `TypeError` for a version that is not allowed in a tag.
 */
export function versionTag(version: string | number, representation: string): string {
  const opaque = `${version}${separator}${representation}`
  if (!isOpaque(opaque) || version === '' || opaque.length > maxTagLength) {
    throw new TypeError(
      `conditional-caching: ${JSON.stringify(version).slice(0, maxTagLength)} is not a valid version. Use a number, or a string of at most ${maxTagLength - separator.length - digestLength} visible characters without spaces or quotes.`
    )
  }
  return opaque
}

const representationPart = new RegExp(`^[\\w-]{${digestLength}}(?:--[a-z]+)?$`)

/** Returns whether a tag, without quotes, identifies a version, in any representation and content coding or without a representation. */
export function isAboutVersion(opaque: string, version: string): boolean {
  if (codingOf(opaque, version) !== undefined) return true
  return opaque.startsWith(version + separator) && representationPart.test(opaque.slice(version.length + separator.length))
}
