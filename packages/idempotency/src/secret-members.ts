import { isObject, isStandardSchema, type JsonSchema, secretKeyword, splitReference, valueAt } from '@concordat/json-schema'
import type { FastifyInstance } from 'fastify'

/** A schema, and the document to which its local references refer. */
interface Place {
  readonly schema: JsonSchema
  readonly document: JsonSchema
}

/** The part of a route that is read: its response schemas. */
export interface RouteSchema {
  readonly schema?: { readonly response?: unknown } | undefined
}

type Instance = Pick<FastifyInstance, 'getSchema'>

/** The secrets in the responses of a route, by status in lower case: `201`, `2xx` or `default`. Responses without secrets are not listed. */
export type RouteSecrets = ReadonlyMap<string, ResponseSecrets>

const known = new WeakMap<object, RouteSecrets>()

/** Returns the secrets that the response schemas of a route mark. They are read once. */
export function secretsOf({ schema }: RouteSchema, app: Instance): RouteSecrets {
  const response = schema?.response
  if (!isObject(response)) return new Map()
  const found = known.get(response) ?? readSecrets(response, app)
  known.set(response, found)
  return found
}

/** Returns the secrets of a response with this status code. */
export function secretsFor(secrets: RouteSecrets, status: number): ResponseSecrets | undefined {
  return secrets.get(String(status)) ?? secrets.get(`${String(status)[0]}xx`) ?? secrets.get('default')
}

function readSecrets(response: JsonSchema, app: Instance): RouteSecrets {
  const lookup = (id: string) => app.getSchema(id) as JsonSchema | undefined
  const all = Object.entries(response).map(([status, declared]): [string, ResponseSecrets] => {
    const content = isObject(declared) && isObject(declared['content']) && !('type' in declared) ? declared['content'] : undefined
    const schemas = content ? Object.values(content).map((entry) => (isObject(entry) ? entry['schema'] : undefined)) : [declared]
    return [status.toLowerCase(), new ResponseSecrets(schemas.filter(isObject), lookup)]
  })
  return new Map(all.filter(([, { isMarked }]) => isMarked))
}

const combinations = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else']

/** The secrets in a response. A member is secret if it is marked in any of its schemas, such as a branch of a union. */
export class ResponseSecrets {
  /** Whether any schema is marked. */
  isMarked = false
  readonly #roots: readonly Place[]
  readonly #lookup: (id: string) => JsonSchema | undefined
  readonly #identified: Map<string, JsonSchema> = new Map()

  constructor(schemas: readonly JsonSchema[], lookup: (id: string) => JsonSchema | undefined) {
    this.#roots = schemas.map((schema) => ({ schema, document: schema }))
    this.#lookup = lookup
    const seen = new Set<unknown>()
    for (const { schema, document } of this.#roots) this.#read(schema, document, seen)
  }

  /** Returns a value without its secret members. The value itself is not changed; one without secret members is returned as it is. */
  removedFrom(value: unknown): unknown {
    return this.#without(this.#applicable(this.#roots), value)
  }

  /** Returns the path of a secret member that the schema requires, `''` if the whole value is secret, or undefined. */
  requiredMember(): string | undefined {
    const places = this.#applicable(this.#roots)
    return this.#isSecret(places) ? '' : this.#requiredIn(places, '', new Set())
  }

  #requiredIn(places: readonly Place[], path: string, seen: Set<JsonSchema>): string | undefined {
    if (places.every(({ schema }) => seen.has(schema))) return undefined
    for (const { schema } of places) seen.add(schema)
    const required = places.flatMap(({ schema }) => (schema['required'] ?? []) as readonly string[])
    const secret = required.find((name) => this.#isSecret(this.#members(places, name)))
    if (secret !== undefined) return path + secret
    const names = new Set(places.flatMap(({ schema }) => Object.keys(schema['properties'] ?? {})))
    for (const name of names) {
      const found = this.#requiredIn(this.#members(places, name), `${path}${name}.`, seen)
      if (found !== undefined) return found
    }
    return this.#requiredIn(this.#contents(places), `${path}*.`, seen)
  }

  #read(node: unknown, document: JsonSchema, seen: Set<unknown>): void {
    if (typeof node !== 'object' || node === null || seen.has(node) || isStandardSchema(node)) return
    seen.add(node)
    const { [secretKeyword]: mark, $id, $ref } = node as JsonSchema
    if (mark === true) this.isMarked = true
    if (typeof $id === 'string') this.#identified.set($id, node as JsonSchema)
    const target = typeof $ref === 'string' ? this.#target($ref, document) : undefined
    if (target) this.#read(target.schema, target.document, seen)
    for (const child of Object.values(node)) this.#read(child, document, seen)
  }

  #without(places: readonly Place[], value: unknown): unknown {
    if (Array.isArray(value)) {
      const items = this.#contents(places)
      const cleaned = value.map((item) => this.#without(items, item))
      return cleaned.some((item, index) => item !== value[index]) ? cleaned : value
    }
    // The result of JSON.rawJSON, a number, has no prototype.
    if (!isObject(value) || Object.getPrototypeOf(value) === null) return value
    const entries = Object.entries(value)
    const cleaned = entries.flatMap(([name, member]): [string, unknown][] => {
      const own = this.#members(places, name)
      return this.#isSecret(own) ? [] : [[name, this.#without(own, member)]]
    })
    const isSame = cleaned.length === entries.length && cleaned.every(([, member], index) => member === entries[index]?.[1])
    return isSame ? value : Object.fromEntries(cleaned)
  }

  // A list of secrets is secret.
  #isSecret(places: readonly Place[], seen: ReadonlySet<JsonSchema> = new Set()): boolean {
    const fresh = places.filter(({ schema }) => !seen.has(schema))
    if (fresh.some(({ schema }) => schema[secretKeyword] === true)) return true
    const items = fresh.length === 0 ? [] : this.#items(fresh)
    return items.length > 0 && this.#isSecret(items, new Set([...seen, ...fresh.map(({ schema }) => schema)]))
  }

  #items(places: readonly Place[]) {
    return this.#parts(places, ({ items, prefixItems, additionalItems }) => [items, prefixItems, additionalItems].flat())
  }

  #contents(places: readonly Place[]) {
    return [...this.#items(places), ...this.#parts(places, ({ additionalProperties }) => [additionalProperties])]
  }

  #members(places: readonly Place[], name: string) {
    return this.#parts(places, ({ properties, patternProperties, additionalProperties }) => {
      const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
      const matching = Object.entries(patternProperties ?? {}).filter(([pattern]) => new RegExp(pattern, 'u').test(name))
      const declared = [...own, ...matching.map(([, part]) => part as unknown)]
      return declared.length === 0 ? [additionalProperties] : declared
    })
  }

  #parts(places: readonly Place[], partsOf: (schema: JsonSchema) => readonly unknown[]) {
    return this.#applicable(
      places.flatMap(({ schema, document }) =>
        partsOf(schema)
          .filter(isObject)
          .map((part) => ({ schema: part, document }))
      )
    )
  }

  /** Returns the schemas that can apply to the same value. */
  #applicable(places: readonly Place[], seen: Set<JsonSchema> = new Set()): Place[] {
    return places.flatMap((place) => {
      const { schema, document } = place
      if (seen.has(schema)) return []
      seen.add(schema)
      const parts = combinations.flatMap((key) => schema[key] ?? []).filter(isObject)
      const target = typeof schema['$ref'] === 'string' ? this.#target(schema['$ref'], document) : undefined
      const further = parts.map((part) => ({ schema: part, document }))
      return [place, ...this.#applicable([...further, ...(target ? [target] : [])], seen)]
    })
  }

  #target(reference: string, document: JsonSchema): Place | undefined {
    const { id, pointer } = splitReference(reference)
    const start = id === '' || id === document['$id'] ? document : (this.#lookup(id) ?? this.#identified.get(id))
    const schema = valueAt(start, pointer)
    return start !== undefined && isObject(schema) ? { schema, document: start } : undefined
  }
}
