import { isObject, type JsonSchema, withValueBounds } from '@concordat/plugin-kit/json-schema'
import {
  follow,
  mapJson,
  mapOperations,
  mapValues,
  type OpenapiDocument,
  type Operation,
  type Parameter,
  type Reference,
  type RequestBody
} from '../document/document.ts'
import { mapSubschemas, typesOf } from '../document/schema-parts.ts'
import { maxLengthOfPattern } from './pattern-length.ts'

// The maximum length of a path parameter in Fastify without the option `maxParamLength`.
const minParamLength = 100

// Each package publishes what it enforces. The gate knows it of documents that were released before it was published. The first are of filters, in a
// query or in a body.
const formatLengths: Readonly<Record<string, number>> = { uuid: 36, date: 10, 'date-time': 32, decimal: 62, int64: 20 }
const maxFilterLength = 1024
const maxBatchPathLength = 8192
const maxBatchHeaderLength = 4096
/** What an `Idempotency-Key` can be: a quoted string of at most 255 characters, or the same without quotes. */
export const keyPattern = String.raw`^(?:"(?:[ !#-\[\]-~]|\\["\\]){1,255}"|[!#-+\--:<-\[\]-~]{1,255})$`
const headerLengths: Readonly<Record<string, number>> = {
  'accept-language': 2048,
  'if-match': 4096,
  'if-none-match': 4096,
  'if-modified-since': 33,
  prefer: 2048
}

/**
 * Returns a document whose schemas have the bounds that requests have anyway ({@link withValueBounds}), texts with a pattern the length that follows from
 * it, and integers the format of the smallest machine word that has room for them.
 */
export function withBounds(document: OpenapiDocument): OpenapiDocument {
  return mapSchemas(document, (schema) => {
    const bounded = withPatternLength(withValueBounds(schema))
    return isInteger(bounded) && bounded['format'] === undefined ? { ...bounded, format: wordOf(bounded) } : bounded
  })
}

/**
 * Returns a document without the bounds that this project enforced before it published them: a released document may not have them yet, and to
 * publish them breaks no client. A tighter bound stays.
 */
export function withoutKnownBounds(document: OpenapiDocument): OpenapiDocument {
  const plain = mapSchemas(document, withoutImpliedBounds)
  const { paths } = plain
  if (paths === undefined) return plain
  const changed = (_path: string, _method: string, operation: Operation) => withoutKnownLengths(plain, operation)
  return { ...plain, paths: mapValues(paths, (item, path) => ({ ...item, ...mapOperations({ [path]: item }, changed)[path] })) }
}

function withoutKnownLengths(document: OpenapiDocument, operation: Operation): Operation {
  const { parameters, requestBody } = operation
  const body = operation['x-batch'] === undefined ? undefined : follow<RequestBody>(document, requestBody)
  return {
    ...operation,
    ...(parameters && { parameters: parameters.map((one) => parameterOf(one, operation)) }),
    ...(body && {
      requestBody: { ...body, content: mapJson(body.content, (schema) => batchOf(follow<JsonSchema>(document, schema) ?? {})) }
    })
  }
}

// The paths and headers of the operations of a batch.
function batchOf(batch: JsonSchema): JsonSchema {
  return changed(batch, ['properties', 'operations', 'items', 'properties'], (members) =>
    changed(
      changed(members, ['path'], (path) => without(path, 'maxLength', maxBatchPathLength)),
      ['headers', 'additionalProperties'],
      (header) => without(header, 'maxLength', maxBatchHeaderLength)
    )
  )
}

function changed(schema: JsonSchema, [key, ...keys]: readonly string[], change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  if (key === undefined) return change(schema)
  const inner = schema[key]
  return isObject(inner) ? { ...schema, [key]: changed(inner, keys, change) } : schema
}

function withoutImpliedBounds(schema: JsonSchema): JsonSchema {
  const { minimum, maximum, maxLength, format, ...others } = schema
  const implied = withPatternLength(withValueBounds({ ...others, ...(format !== undefined && { format }) }))
  const word = isInteger(schema) ? wordOf(withValueBounds(schema)) : undefined
  return {
    ...others,
    ...(format !== undefined && format !== word && { format }),
    ...(minimum !== undefined && !(Number(minimum) <= Number(implied['minimum'])) && { minimum }),
    ...(maximum !== undefined && !(Number(maximum) >= Number(implied['maximum'])) && { maximum }),
    ...(maxLength !== undefined && !(Number(maxLength) >= Number(formatLengths[String(format)] ?? implied['maxLength'])) && { maxLength })
  }
}

function parameterOf(parameter: Parameter | Reference, operation: Operation): Parameter | Reference {
  if (!('schema' in parameter) || parameter.schema === undefined) return parameter
  const { in: where, name, schema } = parameter
  const { 'x-pagination': pagination, 'x-filterable': filters } = operation
  const isFilter = where === 'query' && isObject(filters) && Object.hasOwn(filters, name.replace(/\[.*$/, ''))
  const known = isFilter ? maxFilterLength : where === 'path' ? minParamLength : undefined
  const length = where === 'header' ? headerLengths[name.toLowerCase()] : known
  const last = isObject(pagination) && where === 'query' && name === 'page' ? pagination['maxOffset'] : undefined
  const { items } = schema
  const { pattern, ...others } = schema
  const isKnown = where === 'header' && name.toLowerCase() === 'idempotency-key' && pattern === keyPattern
  const plain = without(without(isKnown ? others : schema, 'maxLength', length), 'maximum', last)
  return { ...parameter, schema: isObject(items) ? { ...plain, items: without(items, 'maxLength', length) } : plain }
}

function without(schema: JsonSchema, key: string, known: unknown): JsonSchema {
  if (!(Number(schema[key]) >= Number(known))) return schema
  const { [key]: _bound, ...others } = schema
  return others
}

function withPatternLength(schema: JsonSchema): JsonSchema {
  const { pattern } = schema
  if (typeof pattern !== 'string' || !typesOf(schema).includes('string') || ['maxLength', 'const', 'enum'].some((key) => key in schema))
    return schema
  const maxLength = maxLengthOfPattern(pattern)
  return Number.isSafeInteger(maxLength) ? { ...schema, maxLength } : schema
}

function isInteger(schema: JsonSchema) {
  const types = typesOf(schema).filter((type) => type !== 'null')
  return types.length === 1 && types[0] === 'integer'
}

function wordOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, enum: values, const: constant }: JsonSchema) {
  const given = [minimum, maximum, exclusiveMinimum, exclusiveMaximum, values, constant].flat().filter((value) => typeof value === 'number')
  return given.every((value) => value >= -(2 ** 31) && value < 2 ** 31) ? 'int32' : 'int64'
}

/** Returns a document in which each schema and each subschema is replaced by the result of `change`, which does not see its subschemas changed. */
function mapSchemas(document: OpenapiDocument, change: (schema: JsonSchema) => JsonSchema): OpenapiDocument {
  const { components, ...others } = document
  const { schemas, ...shared } = components ?? {}
  const changed = (schema: JsonSchema): JsonSchema => mapSubschemas(change(schema), changed)
  return {
    ...(inside(others) as OpenapiDocument),
    ...(components && { components: { ...(inside(shared) as object), ...(schemas && { schemas: mapValues(schemas, changed) }) } })
  }

  // Examples and extensions contain anything, except for the operations of a method that a path item cannot have.
  function inside(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(inside)
    if (!isObject(node)) return node
    return mapValues(node, (value, key) => {
      if (key === 'schema' && isObject(value)) return changed(value)
      const isData = key === 'example' || key === 'examples' || (key.startsWith('x-') && key !== 'x-oai-additionalOperations')
      return isData ? value : inside(value)
    })
  }
}
