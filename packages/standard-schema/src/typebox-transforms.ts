import { isStandardSchema } from '@concordat/plugin-kit/json-schema'
import type { RouteOptions } from 'fastify'
import { nameOf } from './route-schema.ts'

// The marks of TypeBox 0.34 and of typebox 1.
const marks: readonly PropertyKey[] = [Symbol.for('TypeBox.Transform'), '~codec', '~refine']

/** Throws a `TypeError` for a schema of TypeBox with a transform or a refinement: it would be validated as a JSON Schema, and these would not run. */
export function requireNoTransforms(route: RouteOptions): void {
  for (const [part, schema] of Object.entries(route.schema ?? {})) {
    const place = placeOf(schema, [part], new Set())
    if (place !== undefined)
      throw new TypeError(
        `standard-schema: ${nameOf(route)} schema.${place.join('.')} has a TypeBox transform, codec or refinement, which validation as JSON Schema does not run. Do its work in the handler, or write this schema with a library that implements Standard Schema.`
      )
  }
}

function placeOf(node: unknown, path: readonly string[], seen: Set<unknown>): readonly string[] | undefined {
  if (typeof node !== 'object' || node === null || seen.has(node) || isStandardSchema(node)) return undefined
  seen.add(node)
  if (marks.some((mark) => Object.hasOwn(node, mark))) return path
  for (const [key, child] of Object.entries(node)) {
    const found = placeOf(child, [...path, key], seen)
    if (found !== undefined) return found
  }
  return undefined
}
