import { isObject, type JsonSchema, SchemaGraph, type SchemaPlace, secretKeyword } from '@concordat/plugin-kit/json-schema'
import type { FastifyInstance } from 'fastify'

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
  const all = Object.entries(response).map(([status, declared]): [string, ResponseSecrets] => {
    const content = isObject(declared) && isObject(declared['content']) && !('type' in declared) ? declared['content'] : undefined
    const schemas = content ? Object.values(content).map((entry) => (isObject(entry) ? entry['schema'] : undefined)) : [declared]
    return [status.toLowerCase(), new ResponseSecrets(schemas.filter(isObject), (id) => app.getSchema(id))]
  })
  return new Map(all.filter(([, { isMarked }]) => isMarked))
}

/** The secrets in a response. A member is secret if it is marked in any of its schemas, such as a branch of a union. */
export class ResponseSecrets {
  /** Whether any schema is marked. */
  readonly isMarked: boolean
  readonly #graph: SchemaGraph
  readonly #places: readonly SchemaPlace[]

  constructor(schemas: readonly JsonSchema[], lookUp: (id: string) => unknown) {
    this.#graph = new SchemaGraph(lookUp)
    this.isMarked = schemas.flatMap((schema) => this.#graph.placesIn(schema)).some(({ schema }) => isMark(schema))
    this.#places = this.#graph.placesOf(schemas)
  }

  /** Returns a value without its secret members. The value itself is not changed; one without secret members is returned as it is. */
  removedFrom(value: unknown): unknown {
    return this.#without(this.#places, value)
  }

  /** Returns the path of a secret member that the schema requires, `''` if the whole value is secret, or undefined. */
  requiredMember(): string | undefined {
    return this.#isSecret(this.#places) ? '' : this.#requiredIn(this.#places, '', new Set())
  }

  #requiredIn(places: readonly SchemaPlace[], path: string, seen: Set<JsonSchema>): string | undefined {
    if (places.every(({ schema }) => seen.has(schema))) return undefined
    for (const { schema } of places) seen.add(schema)
    const required = places.flatMap(({ schema }) => (schema['required'] ?? []) as readonly string[])
    const secret = required.find((name) => this.#isSecret(this.#graph.members(places, name)))
    if (secret !== undefined) return path + secret
    const names = new Set(places.flatMap(({ schema }) => Object.keys(schema['properties'] ?? {})))
    for (const name of names) {
      const found = this.#requiredIn(this.#graph.members(places, name), `${path}${name}.`, seen)
      if (found !== undefined) return found
    }
    return this.#requiredIn(this.#graph.contents(places), `${path}*.`, seen)
  }

  #without(places: readonly SchemaPlace[], value: unknown): unknown {
    if (Array.isArray(value)) {
      const items = this.#graph.items(places)
      const cleaned = value.map((item) => this.#without(items, item))
      return cleaned.some((item, index) => item !== value[index]) ? cleaned : value
    }
    // The result of JSON.rawJSON, a number, has no prototype.
    if (!isObject(value) || Object.getPrototypeOf(value) === null) return value
    const entries = Object.entries(value)
    const cleaned = entries.flatMap(([name, member]): [string, unknown][] => {
      const own = this.#graph.members(places, name)
      return this.#isSecret(own) ? [] : [[name, this.#without(own, member)]]
    })
    const isSame = cleaned.length === entries.length && cleaned.every(([, member], index) => member === entries[index]?.[1])
    return isSame ? value : Object.fromEntries(cleaned)
  }

  // A list of secrets is secret.
  #isSecret(places: readonly SchemaPlace[]) {
    return this.#graph.isMarked(places, isMark, 'items')
  }
}

function isMark(schema: JsonSchema) {
  return schema[secretKeyword] === true
}
