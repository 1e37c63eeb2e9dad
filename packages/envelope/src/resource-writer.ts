import { hasDateYear, type JsonSchema } from '@concordat/plugin-kit/json-schema'

/** Returns a value as JSON text, or undefined if the value does not have exactly the form that the schema declares. */
export type ResourceWriter = (value: unknown) => string | undefined

// The first two lists do not affect how a value is written.
const annotations = '$comment $id title description examples readOnly writeOnly deprecated'
const limits =
  'minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties'
const forms = 'type properties required additionalProperties items anyOf oneOf const enum format nullable'
const known = new Set(`${annotations} ${limits} ${forms}`.split(' '))

const beside = new Set(['anyOf', 'oneOf', 'properties', 'items', 'const', 'enum'])

// JSON.stringify writes an object of known shape faster than code that concatenates text.
const mismatch = Symbol('not of the declared form')

/**
 * Returns the writer for a schema of objects, lists and plain values: it picks the declared members, omits nulls that are not allowed (rule F3), and
 * passes the rest to `JSON.stringify`, byte for byte as fast-json-stringify. Returns undefined for a schema with references or open objects.
 */
export function resourceWriter(schema: JsonSchema): ResourceWriter | undefined {
  const code = new Shapes()
  const shape = code.of(schema)
  if (shape === undefined) return undefined
  const pick = code.compile(shape)
  return (value) => {
    try {
      return JSON.stringify(pick(value))
    } catch (error) {
      if (error === mismatch) return undefined
      throw error
    }
  }
}

interface Shape {
  /** The name of the generated function that returns its argument in the declared form. */
  readonly call: string
  readonly nullable: boolean
}

/** Generates the source code of a function for each object, list and set of values in a schema. */
class Shapes {
  readonly #functions: string[] = []

  compile({ call, nullable }: Shape): (value: unknown) => unknown {
    const root = nullable ? `value === null ? null : ${call}(value)` : `${call}(value)`
    const names = Object.keys(leaves)
    const body = `${this.#functions.join('\n')}\nreturn (value) => ${root}`
    // Every name and value in the source comes from a schema of the service, through JSON.stringify. Fastify compiles schemas this way too.
    // oxlint-disable-next-line typescript/no-implied-eval
    return new Function(...names, 'refuse', body)(...Object.values(leaves), refuse) as (value: unknown) => unknown
  }

  of(schema: JsonSchema): Shape | undefined {
    if (Object.keys(schema).some((key) => !known.has(key) && !key.startsWith('x-'))) return undefined
    const nullable = schema['nullable'] === true
    const { type } = schema
    if (Array.isArray(type)) {
      const types = type.filter((one) => one !== 'null')
      const only = types.length === 1 ? this.of({ ...schema, type: types[0] }) : undefined
      return types.length < type.length ? orNull(only) : only
    }
    const branches = schema['anyOf'] ?? schema['oneOf']
    // Keywords next to branches apply too, and the serializer combines both.
    if (branches !== undefined && Object.keys(schema).filter((key) => beside.has(key)).length > 1) return undefined
    const call = branches === undefined ? this.#plain(schema) : undefined
    const shape = branches === undefined ? shapeOf(call) : this.#branched(branches as readonly JsonSchema[])
    return shape && nullable ? orNull(shape) : shape
  }

  #branched(branches: readonly JsonSchema[]): Shape | undefined {
    const values = branches.filter((branch) => branch['type'] !== 'null')
    const [only] = values
    const texts = values.map((branch) => branch['const'])
    const call = texts.every((text) => typeof text === 'string') ? this.#oneOf(texts) : undefined
    const shape = values.length === 1 && only !== undefined ? this.of(only) : shapeOf(call)
    return shape && values.length < branches.length ? orNull(shape) : shape
  }

  #plain(schema: JsonSchema): string | undefined {
    if ('const' in schema) return typeof schema['const'] === 'string' ? this.#oneOf([schema['const']]) : undefined
    if (Array.isArray(schema['enum']))
      return schema['enum'].every((one) => typeof one === 'string') ? this.#oneOf(schema['enum']) : undefined
    switch (schema['type']) {
      case 'object':
        return this.#object(schema)
      case 'array':
        return this.#list(schema['items'])
      case 'string':
        return textShape(schema['format'])
      case 'integer':
      case 'number':
      case 'boolean':
        return schema['type']
      default:
        return undefined
    }
  }

  #object({ properties, required = [], additionalProperties = false }: JsonSchema): string | undefined {
    if (typeof properties !== 'object' || properties === null || additionalProperties !== false) return undefined
    const names = Object.keys(properties)
    const needed = new Set(required as readonly string[])
    // Numeric names would come first, and __proto__ in an object literal does not define a member.
    if (names.some((name) => /^\d+$/.test(name) || name === '__proto__') || [...needed].some((name) => !names.includes(name)))
      return undefined
    const members: string[] = []
    for (const name of [...names.filter((one) => needed.has(one)), ...names.filter((one) => !needed.has(one))]) {
      const shape = this.of((properties as Record<string, JsonSchema>)[name] as JsonSchema)
      if (shape === undefined) return undefined
      members.push(`${JSON.stringify(name)}: ${memberOf(name, shape, needed.has(name))}`)
    }
    return this.#add(
      `if (typeof value !== 'object' || value === null || typeof value.toJSON === 'function') refuse()
      let member
      return { ${members.join(', ')} }`
    )
  }

  #list(items: unknown): string | undefined {
    const shape = typeof items === 'object' && items !== null && !Array.isArray(items) ? this.of(items as JsonSchema) : undefined
    if (shape === undefined) return undefined
    const item = shape.nullable ? `value[at] === null ? null : ${shape.call}(value[at])` : `${shape.call}(value[at])`
    return this.#add(
      `if (!Array.isArray(value)) refuse()
      const items = new Array(value.length)
      for (let at = 0; at < value.length; at += 1) items[at] = ${item}
      return items`
    )
  }

  #oneOf(texts: readonly unknown[]): string {
    return this.#add(`return ${texts.map((text) => `value === ${JSON.stringify(text)}`).join(' || ')} ? value : refuse()`)
  }

  #add(body: string): string {
    const name = `shape${this.#functions.length}`
    this.#functions.push(`function ${name}(value) {\n${body}\n}`)
    return name
  }
}

function memberOf(name: string, { call, nullable }: Shape, needed: boolean): string {
  const member = `(member = value[${JSON.stringify(name)}])`
  if (needed) return nullable ? `${member} === null ? null : ${call}(member)` : `${call}(${member})`
  if (nullable) return `${member} == null ? member : ${call}(member)`
  return `${member} == null ? undefined : ${call}(member)`
}

function textShape(format: unknown) {
  if (format === 'unsafe') return undefined
  return format === 'date-time' ? 'time' : format === 'date' ? 'day' : 'text'
}

function shapeOf(call: string | undefined): Shape | undefined {
  return call === undefined ? undefined : { call, nullable: false }
}

function orNull(shape: Shape | undefined): Shape | undefined {
  return shape && { ...shape, nullable: true }
}

const leaves = {
  text: (value: unknown) => (typeof value === 'string' ? value : refuse()),
  day: (value: unknown) => (typeof value === 'string' && hasDateYear(value) ? value : refuse()),
  // JSON.stringify writes a Date in the same form.
  time: (value: unknown) =>
    (typeof value === 'string' ? hasDateYear(value) : value instanceof Date && !Number.isNaN(value.getTime())) ? value : refuse(),
  integer: (value: unknown) => (Number.isSafeInteger(value) ? value : refuse()),
  number: (value: unknown) => (Number.isFinite(value) ? value : refuse()),
  boolean: (value: unknown) => (typeof value === 'boolean' ? value : refuse())
}

function refuse(): never {
  throw mismatch
}
