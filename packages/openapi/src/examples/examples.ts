import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { follow, type OpenapiDocument } from '../document/document.ts'
import { propertiesOf, requiredOf, subschemas, typesOf } from '../document/schema-parts.ts'
import { sentence } from '../document/words.ts'

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  duration: 'P1D',
  uuid: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab',
  email: 'ada@example.com',
  uri: 'https://www.example.com/page',
  url: 'https://www.example.com/page',
  'uri-reference': '/page',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  decimal: '12.50'
}
const candidates = ['12.50', 'EUR', 'DE', 'en', 'A1', 'a', '1', 'example', 'SGVsbG8=']
const maxDepth = 8
// Keywords that can refuse a value which the others allow.
const conditions = ['not', 'if', 'contains', 'dependentSchemas', 'propertyNames', 'unevaluatedProperties']

/**
 * Returns an example value that is valid for a schema, derived from the examples, defaults, constants and bounds in the schema. A text without
 * any of them is the name of its property. An object has its required members and those of which the schema has examples, because others can
 * contradict each other: a queued job has no error. Without any of these, it has all members. Returns undefined when no example is certainly valid:
 * no example is better than a wrong one.
 */
export function exampleOf(schema: JsonSchema, document: OpenapiDocument, depth = 0, name = 'text'): unknown {
  const target = follow<JsonSchema>(document, schema)
  if (target === undefined || depth > maxDepth) return undefined
  const given = givenExample(target)
  if (given !== undefined) return given.value
  if (conditions.some((key) => key in target)) return undefined
  if (Array.isArray(target['allOf'])) return ofAll(target, document, depth)
  const branches = (target['anyOf'] ?? target['oneOf']) as readonly JsonSchema[] | undefined
  for (const branch of branches ?? []) {
    const example = exampleOf(branch, document, depth + 1, name)
    if (example !== undefined) return example
  }
  if (branches !== undefined) return undefined
  const type = typesOf(target).find((one) => one !== 'null')
  if (type === 'object') return ofObject(target, document, depth)
  if (type === 'array') return ofArray(target, document, depth, name)
  if (type === 'string') return ofString(target, name)
  if (type === 'integer' || type === 'number') return ofNumber(target)
  return type === 'boolean' ? true : undefined
}

function givenExample(schema: JsonSchema): { readonly value: unknown } | undefined {
  const { examples, enum: values } = schema
  if (Array.isArray(examples) && examples.length > 0) return { value: examples[0] }
  const key = ['example', 'default', 'const'].find((one) => one in schema)
  if (key !== undefined) return { value: schema[key] }
  return Array.isArray(values) && values.length > 0 ? { value: values[0] } : undefined
}

function ofAll(schema: JsonSchema, document: OpenapiDocument, depth: number): unknown {
  const { allOf, ...rest } = schema
  const parts = [...(allOf as readonly JsonSchema[]), ...(Object.hasOwn(rest, 'properties') ? [{ type: 'object', ...rest }] : [])]
  const examples = parts.map((part) => exampleOf(part, document, depth + 1))
  return examples.every(isObject) ? Object.assign({}, ...examples) : undefined
}

function ofObject(schema: JsonSchema, document: OpenapiDocument, depth: number): unknown {
  const properties = Object.entries(propertiesOf(schema))
  const required = new Set(requiredOf(schema))
  const dependents = Object.entries((schema['dependentRequired'] ?? {}) as Readonly<Record<string, readonly string[]>>)
  // A dependent member can require others.
  for (const _ of dependents) for (const [name, names] of dependents) if (required.has(name)) for (const one of names) required.add(one)
  const shown = properties.filter(([name, member]) => required.has(name) || hasExample(member, document, depth))
  const members: [string, unknown][] = []
  // Every link has examples.
  for (const [name, member] of shown.every(([one]) => one === '_links') ? properties : shown) {
    const example = exampleOf(member, document, depth + 1, name)
    if (example !== undefined) members.push([name, example])
    else if (required.has(name)) return undefined
  }
  const names = new Set(members.map(([name]) => name))
  return [...required].every((name) => names.has(name)) ? Object.fromEntries(members) : undefined
}

function hasExample(schema: JsonSchema, document: OpenapiDocument, depth: number): boolean {
  const target = follow<JsonSchema>(document, schema)
  if (target === undefined || depth > maxDepth) return false
  if ('examples' in target || 'example' in target) return true
  return subschemas(target).some(([, inner]) => hasExample(inner, document, depth + 1))
}

function ofArray(schema: JsonSchema, document: OpenapiDocument, depth: number, name: string): unknown {
  const { minItems, maxItems, prefixItems, items } = schema
  const least = typeof minItems === 'number' ? minItems : 0
  const tuple = Array.isArray(prefixItems) ? prefixItems.map((one) => exampleOf(one, document, depth + 1, name)) : []
  if (tuple.length > 0) return tuple.length < least || tuple.includes(undefined) ? undefined : tuple
  const item = isObject(items) && maxItems !== 0 ? exampleOf(items, document, depth + 1, name) : undefined
  if (item === undefined) return least === 0 ? [] : undefined
  return least <= 1 ? [item] : undefined
}

function ofString(schema: JsonSchema, name: string): string | undefined {
  const { format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema
  const fits = (text: string) =>
    text.length >= Number(minLength) &&
    text.length <= Number(maxLength) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text))
  if (typeof format === 'string' && format !== 'binary') {
    const text = formats[format]
    return text !== undefined && fits(text) ? text : undefined
  }
  if (typeof pattern === 'string') return candidates.find(fits)
  if (/^id$|[a-z]Id$/.test(name) && fits(formats['uuid'] as string)) return formats['uuid']
  const text = sentence(name).padEnd(Number(minLength), '.').slice(0, Number(maxLength))
  return fits(text) ? text : undefined
}

function ofNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonSchema): number | undefined {
  const least = numberOf(minimum) ?? (numberOf(exclusiveMinimum) ?? Number.NaN) + 1
  const most = numberOf(maximum) ?? (numberOf(exclusiveMaximum) ?? Number.NaN) - 1
  const step = numberOf(multipleOf) ?? 1
  const start = Number.isNaN(least) ? Math.min(1, Number.isNaN(most) ? 1 : most) : least
  const value = Math.ceil(start / step) * step
  return value > most || value < least ? undefined : value
}

function numberOf(value: unknown) {
  return typeof value === 'number' ? value : undefined
}
