import { isObject, type JsonSchema, splitReference, valueAt } from './json-schema.ts'
import { isStandardSchema } from './standard-schema.ts'

/** A schema, and the document to which its local references refer. */
export interface SchemaPlace {
  readonly schema: JsonSchema
  readonly document: JsonSchema
}

type Places = readonly SchemaPlace[]

const combinations = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else']

/** Finds the schemas that can apply to a value, through references and combinations. It returns each schema once, and nothing for an invalid one. */
export class SchemaGraph {
  readonly #lookUp: (id: string) => unknown
  readonly #identified = new Map<string, JsonSchema>()

  /** @param lookUp returns the schema with an `$id` that is not in the document itself */
  constructor(lookUp: (id: string) => unknown) {
    this.#lookUp = lookUp
  }

  /** Returns all schemas of a document, and of those that it refers to. */
  placesIn(document: JsonSchema): SchemaPlace[] {
    const places: SchemaPlace[] = []
    this.#collect(document, document, new Set(), places)
    return places
  }

  /** Returns the schemas that can apply to a value of one of these schemas. */
  placesOf(schemas: readonly JsonSchema[]): SchemaPlace[] {
    return this.#applicable(schemas.map((schema) => ({ schema, document: schema })))
  }

  /** Returns the schemas of the member with this name. */
  members(places: Places, name: string): SchemaPlace[] {
    return this.#parts(places, ({ properties, patternProperties, additionalProperties }) => {
      const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
      const matching = Object.entries(patternProperties ?? {}).filter(([pattern]) => new RegExp(pattern, 'u').test(name))
      const declared = [...own, ...matching.map(([, part]) => part as unknown)]
      return declared.length === 0 ? [additionalProperties] : declared
    })
  }

  /** Returns the schemas of the items of a list. */
  items(places: Places): SchemaPlace[] {
    return this.#parts(places, ({ items, prefixItems, additionalItems, contains }) =>
      [items, prefixItems, additionalItems, contains].flat()
    )
  }

  /** Returns the schemas of the items of a list and of the values of a map. */
  contents(places: Places): SchemaPlace[] {
    const values = this.#parts(places, ({ patternProperties, additionalProperties }) => [
      ...(isObject(patternProperties) ? Object.values(patternProperties) : []),
      additionalProperties
    ])
    return [...this.items(places), ...values]
  }

  /** Returns whether one of the schemas has a mark, or one of their parts, such as `items` or `contents`, at any depth. */
  isMarked(places: Places, isMark: (schema: JsonSchema) => boolean, parts: 'items' | 'contents'): boolean {
    const seen = new Set<JsonSchema>()
    for (let level = places; level.length > 0; level = this[parts](level)) {
      level = level.filter(({ schema }) => !seen.has(schema))
      if (level.some(({ schema }) => isMark(schema))) return true
      for (const { schema } of level) seen.add(schema)
    }
    return false
  }

  #collect(node: unknown, document: JsonSchema, seen: Set<unknown>, places: SchemaPlace[]) {
    if (typeof node !== 'object' || node === null || seen.has(node) || isStandardSchema(node)) return
    seen.add(node)
    const schema = node as JsonSchema
    places.push({ schema, document })
    if (typeof schema['$id'] === 'string') this.#identified.set(schema['$id'], schema)
    const target = this.#target({ schema, document })
    if (target) this.#collect(target.schema, target.document, seen, places)
    for (const child of Object.values(node)) this.#collect(child, document, seen, places)
  }

  #parts(places: Places, partsOf: (schema: JsonSchema) => readonly unknown[]) {
    return this.#applicable(places.flatMap(({ schema, document }) => placesAt(partsOf(schema), document)))
  }

  #applicable(places: Places, seen: Set<JsonSchema> = new Set()): SchemaPlace[] {
    return places.flatMap((place) => {
      const { schema, document } = place
      if (seen.has(schema)) return []
      seen.add(schema)
      const target = this.#target(place)
      const parts = placesAt(
        combinations.flatMap((key) => schema[key] ?? []),
        document
      )
      return [place, ...this.#applicable(target ? [...parts, target] : parts, seen)]
    })
  }

  #target({ schema, document }: SchemaPlace): SchemaPlace | undefined {
    if (typeof schema['$ref'] !== 'string') return undefined
    const { id, pointer } = splitReference(schema['$ref'])
    const start = id === '' || id === document['$id'] ? document : (this.#lookUp(id) ?? this.#identified.get(id))
    const target = valueAt(start, pointer)
    return isObject(start) && isObject(target) ? { schema: target, document: start } : undefined
  }
}

function placesAt(parts: readonly unknown[], document: JsonSchema): SchemaPlace[] {
  return parts.filter(isObject).map((schema) => ({ schema, document }))
}
