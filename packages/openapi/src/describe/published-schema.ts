import { isObject, type JsonSchema, libraryDefault, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'
import { isComposite, mapSubschemas, subschemas, typesOf } from '../document/schema-parts.ts'

/** Returns a schema that was added to the instance of a route, by its `$id`. */
export type SharedSchemas = (id: string) => JsonSchema | undefined

/** A schema to which others refer. It has a provisional id until all components are named. */
export interface ReferencedSchema {
  readonly schema: JsonSchema
  /** The name that the author gave it, by `$id` or title. */
  readonly name: string | undefined
  /** Its name in the `definitions` of another schema, and the name that the author gave that schema. */
  readonly definition: { readonly name: string; readonly owner: string | undefined } | undefined
}

/** Publishes the schemas of the routes of one document, and collects those to which they refer. */
export type SchemaPublisher = ReturnType<typeof schemaPublisher>

/** Returns the name that the author of a schema gave it: its `$id`, or its title. */
function givenName({ $id, title }: JsonSchema): string | undefined {
  // TypeBox numbers recursive types without an $id in the order in which they are created.
  if (typeof $id === 'string' && !/^(?:T\d+|#.*)$/.test($id)) return $id
  return typeof title === 'string' ? title : undefined
}

const prefix = '#/components/schemas/'

/** Where references lead: the schemas with an `$id` within the document, the document itself, and the shared schemas. */
interface Place {
  readonly root: JsonSchema
  readonly document: JsonSchema
  readonly within: ReadonlyMap<string, JsonSchema>
  readonly shared: SharedSchemas | undefined
}

interface Target {
  readonly schema: JsonSchema
  readonly place: Place
  readonly definition: ReferencedSchema['definition']
}

/** Creates a publisher for the schemas of one document. */
export function schemaPublisher() {
  const referenced = new Map<string, ReferencedSchema>()
  const ids = new Map<JsonSchema, string>()
  const places = new Map<JsonSchema, Place>()

  function placeOf(document: JsonSchema, shared: SharedSchemas | undefined): Place {
    const known = places.get(document)
    if (known !== undefined && known.shared === shared) return known
    const place = { root: document, document, shared, within: identified(document) }
    places.set(document, place)
    return place
  }

  function converted(schema: JsonSchema, place: Place): JsonSchema {
    const { $ref: reference, $id, $anchor: _anchor, $schema: _dialect, definitions: _definitions, $defs: _defs, ...own } = schema
    const { [libraryDefault]: preset, ...members } = own as JsonSchema & { readonly [libraryDefault]?: unknown }
    const rest = preset === undefined ? members : { ...members, default: preset }
    const isOwnDocument = typeof $id === 'string' && !$id.startsWith('#') && schema !== place.document
    const inner = isOwnDocument ? { ...place, document: schema } : place
    const body = modern(mapSubschemas(rest, (part) => (isIdentified(part) ? referenceTo(part, inner) : converted(part, inner))))
    if (typeof reference !== 'string') return body
    const target = targetOf(reference, inner)
    return target === undefined ? { $ref: reference, ...body } : { ...referenceTo(target.schema, target.place, target.definition), ...body }
  }

  // A value that is not an object is described where it is used.
  function referenceTo(schema: JsonSchema, place: Place, definition?: ReferencedSchema['definition']): JsonSchema {
    if (!isComposite(schema) && typeof schema['$id'] !== 'string') return converted(schema, place)
    let id = ids.get(schema)
    if (id === undefined) {
      id = `referenced ${ids.size}`
      ids.set(schema, id)
      referenced.set(id, { schema: converted(schema, place), name: givenName(schema), definition })
    }
    return { $ref: prefix + id }
  }

  return {
    /** The referenced schemas by provisional id. */
    referenced: referenced as ReadonlyMap<string, ReferencedSchema>,
    /**
     * Returns a schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1, with references to provisional ids in the components. `document` is
     * the schema to which its local references (`#/definitions/Node`) refer.
     */
    publish: (schema: JsonSchema, shared?: SharedSchemas, document = schema): JsonSchema => {
      const place = placeOf(document, shared)
      return isIdentified(schema) ? referenceTo(schema, place) : converted(schema, place)
    },
    /** Returns the schema itself instead of a reference to it. */
    resolve: (schema: JsonSchema): JsonSchema => {
      const reference = schema['$ref']
      const target = typeof reference === 'string' ? referenced.get(reference.slice(prefix.length)) : undefined
      return target?.schema ?? schema
    }
  }

  function targetOf(reference: string, place: Place): Target | undefined {
    const { id, pointer } = splitReference(reference)
    const own = id === '' || id === place.document['$id'] ? place.document : place.within.get(id)
    const document = own ?? place.shared?.(id)
    if (document === undefined) return undefined
    const inside = own === undefined ? placeOf(document, place.shared) : { ...place, document }
    const schema = pointer === '' || pointer.startsWith('/') ? valueAt(document, pointer) : inside.within.get(`#${pointer}`)
    // Fastify's serializer resolves local references from the outermost schema, also in a part with an $id of its own.
    if (!isObject(schema))
      return document === place.root || own === undefined ? undefined : targetOf(reference, { ...place, document: place.root })
    const [, name] = /\/(?:definitions|\$defs)\/([^/]+)$/.exec(pointer) ?? []
    // A name that begins with an underscore is generated by a schema library.
    const isNamed = name !== undefined && !name.startsWith('_')
    return { schema, place: inside, definition: isNamed ? { name, owner: givenName(document) } : undefined }
  }
}

function isIdentified({ $id }: JsonSchema) {
  return typeof $id === 'string' && !$id.startsWith('#')
}

/** Returns the schemas within a document by `$id`; an anchor has a `#`. */
function identified(document: JsonSchema, found = new Map<string, JsonSchema>()): ReadonlyMap<string, JsonSchema> {
  for (const [, schema] of subschemas(document)) {
    const { $id, $anchor } = schema
    if (typeof $id === 'string') found.set($id, schema)
    if (typeof $anchor === 'string') found.set(`#${$anchor}`, schema)
    identified(schema, found)
  }
  return found
}

/** Returns a schema with the keywords of JSON Schema 2020-12 instead of those of draft 7 and OpenAPI 3.0. */
function modern(schema: JsonSchema): JsonSchema {
  const { items, additionalItems, dependencies, nullable, ...rest } = schema
  const tuple = Array.isArray(items)
    ? { prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
    : items !== undefined && { items }
  const types = typesOf(schema)
  return withEnumeration({
    ...rest,
    ...tuple,
    ...(isObject(dependencies) && dependents(dependencies)),
    ...(nullable === true && types.length > 0 && !types.includes('null') && { type: [...types, 'null'] })
  })
}

function dependents(dependencies: JsonSchema) {
  const { required, schemas } = Object.groupBy(Object.entries(dependencies), ([, value]) => (Array.isArray(value) ? 'required' : 'schemas'))
  return {
    ...(required && { dependentRequired: Object.fromEntries(required) }),
    ...(schemas && { dependentSchemas: Object.fromEntries(schemas) })
  }
}

/** Replaces a union of constants with an enumeration, which client generators support better. */
function withEnumeration(schema: JsonSchema): JsonSchema {
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = schema[key]
    if (!Array.isArray(branches) || branches.length === 0 || !branches.every((one) => typeof one.const === 'string')) continue
    const { [key]: _branches, ...rest } = schema
    return { ...rest, type: 'string', enum: branches.map((one) => one.const) }
  }
  return schema
}
