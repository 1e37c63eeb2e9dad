import { createHash } from 'node:crypto'
import { isObject } from '@concordat/plugin-kit/json-schema'
import { follow, mapJson, mapValues, type OpenapiDocument, type Operation, type Reference, type Response } from './document.ts'
import { propertiesOf } from './schema-parts.ts'

// What only people read, and what differs between the deployments of one release. Response headers come with limits and dates too.
const ignored = new Set(
  `servers tags description summary title example examples externalDocs $comment securitySchemes headers deprecated x-deprecated-at x-sunset
  x-migration x-waivers x-digest x-rate-limits x-body-limit-bytes x-max-bytes`.split(/\s+/)
)
// Objects whose keys are names that authors choose.
const maps = new Set(
  `properties patternProperties $defs definitions dependentSchemas dependentRequired mapping paths webhooks callbacks responses requestBodies
  schemas content encoding x-errors x-oai-additionalOperations`.split(/\s+/)
)
const literals = new Set(['enum', 'const', 'default'])
const pageParameters = new Set(['page', 'perPage'])

/**
 * Returns a digest of what clients are made from: paths, parameters, schemas, status codes and error codes. It is the same for all deployments of a
 * release, whatever their address, dates and limits, and does not depend on the order of members and on texts. In the form of RFC 9530 §2.
 */
export function descriptionDigest(document: OpenapiDocument): string {
  const { info, components: { responses: _responses, ...components } = {}, ...others } = document
  // Most operations refer to the same error responses, whose names follow from their headers too.
  const known = new Map<string, string>()
  return digestOf({ ...others, components, info: { version: info.version } })

  function digestOf(value: unknown) {
    const text = JSON.stringify(significant(value))
    return `sha-256=:${createHash('sha256').update(text).digest('base64')}:`
  }

  function significant(value: unknown, isMap = false): unknown {
    if (Array.isArray(value)) return value.map((one) => significant(one))
    if (!isObject(value)) return value
    const { $ref } = value
    if (typeof $ref === 'string' && $ref.startsWith('#/components/responses/')) {
      const digest = known.get($ref) ?? digestOf(follow(document, value) ?? {})
      known.set($ref, digest)
      return digest
    }
    const own = isMap ? value : withoutLimits(value)
    const names = Object.keys(own).filter((key) => isMap || !ignored.has(key))
    const sorted = Object.fromEntries(names.toSorted().map((key) => [key, own[key]]))
    return mapValues(sorted, (inner, key) => (!isMap && literals.has(key) ? inner : significant(inner, !isMap && maps.has(key))))
  }
}

// The size of a page, the number of rows that page numbers reach, and the length of a path parameter are settings.
function withoutLimits(part: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { 'x-pagination': pagination, in: where, name, schema } = part
  if (isObject(pagination)) {
    const { style, count } = pagination
    return { ...part, 'x-pagination': { style, count }, responses: mapValues((part as Operation).responses ?? {}, withoutPageSize) }
  }
  if (!isObject(schema)) return part
  if (where === 'path') return { ...part, schema: { ...schema, maxLength: undefined } }
  return where === 'query' && pageParameters.has(String(name)) ? { ...part, schema: { type: schema['type'] } } : part
}

function withoutPageSize(response: Response | Reference): Response | Reference {
  if (!('content' in response) || response.content === undefined) return response
  const content = mapJson(response.content, (schema) => {
    const { data, ...members } = propertiesOf(schema)
    return data === undefined
      ? { ...schema, maxItems: undefined }
      : { ...schema, properties: { ...members, data: { ...data, maxItems: undefined } } }
  })
  return { ...response, content }
}
