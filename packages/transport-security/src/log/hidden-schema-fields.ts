import { isObject, type JsonSchema, SchemaGraph, secretKeyword } from '@concordat/plugin-kit/json-schema'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'

/** A route, and the instance whose shared schemas it may refer to. */
export interface OwnedRoute {
  readonly route: RouteOptions
  readonly owner: FastifyInstance
}

// Secrets, and the personal data for which JSON Schema has a format (rule S12).
const hiddenFormats = new Set<unknown>(['password', 'email', 'idn-email'])

/**
 * Returns the names of all properties that a schema excludes from the log: by `writeOnly` (JSON Schema §9.4, OpenAPI), by `x-secret`, or by
 * the format `password`, `email` or `idn-email`. The mark can be on the property, on the items of its list or map, or on the schema it refers to.
 */
export function hiddenFieldsOf(routes: readonly OwnedRoute[]): Set<string> {
  const names = new Set<string>()
  for (const [owner, owned] of Map.groupBy(routes, (route) => route.owner)) {
    const shared = owner.getSchemas()
    const graph = new SchemaGraph((id) => shared[id])
    // Each of them is the root of its own local references.
    const documents = new Set([...Object.values(shared), ...owned.flatMap(({ route }) => documentsOf(route.schema ?? {}))])
    for (const document of [...documents].filter(isObject)) {
      const places = graph.placesIn(document)
      // Most documents have no mark, and the search for the marks of each property takes much longer than this one.
      if (!places.some(({ schema }) => isHidden(schema))) continue
      for (const place of places) {
        const { properties } = place.schema
        for (const name of isObject(properties) ? Object.keys(properties) : [])
          if (graph.isMarked(graph.members([place], name), isHidden, 'contents')) names.add(name)
      }
    }
  }
  return names
}

function documentsOf({ response, ...parts }: FastifySchema): readonly unknown[] {
  return [...Object.values(parts), ...(isObject(response) ? Object.values(response) : [])]
}

function isHidden(schema: JsonSchema) {
  return schema['writeOnly'] === true || schema[secretKeyword] === true || hiddenFormats.has(schema['format'])
}
