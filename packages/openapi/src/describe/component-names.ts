import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import pluralize from 'pluralize'
import { mapValues } from '../document/document.ts'
import { isComposite } from '../document/schema-parts.ts'
import { pascalCase } from '../document/words.ts'
import type { ReferencedSchema } from './published-schema.ts'

const prefix = '#/components/schemas/'

/** A schema of a route that becomes a component. */
export interface SchemaClaim {
  readonly schema: JsonSchema
  /** The names that follow from its route, the best first. */
  readonly names: readonly string[]
  /** The name of the resource of its route. The schemas that it refers to are named after it. */
  readonly resource: string
}

interface Component {
  readonly schema: JsonSchema
  readonly shape: string
  /** The first part of the names of the schemas that it refers to. */
  readonly base: string
  /** The components through which it was reached, and its own name. */
  readonly path: readonly string[]
}

/** The components of a document, each with its name. */
export type ComponentNames = ReturnType<typeof componentNames>

/**
 * Names components by `$id`, by title or by route, never by number while another name is free: a name must not change when a route is added,
 * because clients that are generated have types with these names. Schemas with the same shape share a name.
 */
export function componentNames(common: Readonly<Record<string, JsonSchema>>, referenced: ReadonlyMap<string, ReferencedSchema>) {
  const components = new Map<string, Component>()
  const targetOf = (schema: JsonSchema) => targetIn(referenced, schema)
  const shapeOf = (schema: JsonSchema) => shapeIn(referenced, schema)
  for (const [name, schema] of Object.entries(common)) add([name], schema, name, [])

  // Takes the first name that is free, or that a schema of the same shape has.
  function add(names: readonly string[], schema: JsonSchema, base: string, path: readonly string[], shape = shapeOf(schema)): string {
    const last = names.at(-1) as string
    for (let number = 0; ; number += 1) {
      const name = names[number] ?? `${last}${number - names.length + 2}`
      const known = components.get(name)
      if (known !== undefined && known.shape !== shape) continue
      if (known === undefined) components.set(name, { schema, shape, base, path: [...path, name] })
      return name
    }
  }

  function givenTo(schema: JsonSchema) {
    const { title } = schema
    return nameGiven(targetOf(schema) ?? { name: typeof title === 'string' ? title : undefined, definition: undefined })
  }

  function claim({ schema, names, resource }: SchemaClaim): JsonSchema {
    const { $ref: _reference, ...beside } = schema
    const target = targetOf(schema)
    const whole = target?.schema ?? schema
    if (!isComposite(whole)) return schema
    const given = givenTo(schema)
    const part = pascalCase(target?.definition?.name ?? '')
    const placed = part === '' || part === resource ? names : [resource + part, ...names]
    const name = add(given === undefined ? placed : [given, ...names], whole, given ?? resource, [])
    const reference = { $ref: prefix + name }
    return target === undefined ? reference : { ...beside, ...reference }
  }

  // The name of a referenced schema: its own, that of the component in which it refers to itself, or the name of its place.
  function nameIn(target: ReferencedSchema, base: string, path: readonly string[], property: string): string {
    const shape = shapeOf(target.schema)
    const same = path.find((name) => components.get(name)?.shape === shape)
    if (same !== undefined) return same
    const given = nameGiven(target)
    const part = pascalCase(target.definition?.name ?? pluralize.singular(property))
    const placed = [base + part, (path[0] ?? base) + part]
    // What a schema with a name of its own refers to must not be named after the place from which it is reached.
    return given === undefined ? add(placed, target.schema, base, path, shape) : add([given, ...placed], target.schema, given, [], shape)
  }

  function renamed(node: unknown, base: string, path: readonly string[], property: string): unknown {
    if (Array.isArray(node)) return node.map((one) => renamed(one, base, path, property))
    if (!isObject(node)) return node
    const target = targetOf(node)
    return mapValues(node, (value, key) => {
      if (key === '$ref' && target !== undefined) return prefix + nameIn(target, base, path, property)
      if (key !== 'properties' || !isObject(value)) return renamed(value, base, path, property)
      return mapValues(value, (one, name) => (name === '_links' && isLinkList(one) ? linkList(one) : renamed(one, base, path, name)))
    })
  }

  return {
    /** Makes a schema a component and returns a reference to it. A schema that is not a composite is returned as it is. */
    claim,
    /** Returns the name that the author gave a schema, in the form of a component name. */
    givenTo,
    /** Returns whether the component with this name has the same shape as a schema. */
    isNamed: (name: string, schema: JsonSchema) => components.get(name)?.shape === shapeOf(targetOf(schema)?.schema ?? schema),
    /** Returns a part of the document in which the references lead to components. Referenced schemas without a name get one. */
    withNames: <Part>(part: Part, resource: string) => renamed(part, resource, [], '') as Part,
    /** Returns all components by name, in alphabetical order. */
    all(): Readonly<Record<string, JsonSchema>> {
      const schemas: [string, JsonSchema][] = []
      // Components that are added meanwhile are visited too.
      for (const [name, { schema, base, path }] of components) schemas.push([name, renamed(schema, base, path, '') as JsonSchema])
      return Object.fromEntries(schemas.toSorted(([a], [b]) => (a < b ? -1 : 1)))
    }
  }
}

function targetIn(referenced: ReadonlyMap<string, ReferencedSchema>, { $ref: reference }: JsonSchema) {
  return typeof reference === 'string' ? referenced.get(reference.slice(prefix.length)) : undefined
}

// The text of a schema and all schemas that it refers to, without their names.
function shapeIn(referenced: ReadonlyMap<string, ReferencedSchema>, schema: JsonSchema): string {
  const seen = new Map<ReferencedSchema, number>()
  const expanded = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(expanded)
    if (!isObject(node)) return node
    const target = targetIn(referenced, node)
    const copy = mapValues(node, expanded)
    if (target === undefined) return copy
    const known = seen.get(target)
    if (known !== undefined) return { ...copy, $ref: known }
    seen.set(target, seen.size)
    return { ...copy, $ref: expanded(target.schema) }
  }
  return JSON.stringify(expanded(schema))
}

// The name that the author gave a schema, or a schema in whose definitions it is.
function nameGiven({ name, definition }: Pick<ReferencedSchema, 'name' | 'definition'>): string | undefined {
  const owner = definition?.owner
  return pascalCase(name ?? '') || (owner === undefined ? undefined : pascalCase(owner) + pascalCase(definition?.name as string))
}

/** Returns the schema of a list of links with a reference to the schema of a link. */
export function linkList({ maxItems }: JsonSchema): JsonSchema {
  return { type: 'array', ...(maxItems !== undefined && { maxItems }), items: { $ref: `${prefix}Link` } }
}

function isLinkList(schema: unknown): schema is JsonSchema {
  const items = isObject(schema) && schema['type'] === 'array' ? schema['items'] : undefined
  const members = isObject(items) ? items['properties'] : undefined
  return isObject(members) && ['rel', 'href', 'method'].every((name) => Object.hasOwn(members, name))
}
