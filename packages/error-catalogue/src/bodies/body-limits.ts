import { isObject } from '@concordat/plugin-kit/json-schema'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { sizeOf } from '../schemas/schema-size.ts'

/** How large the JSON body of a route may be. */
export interface BodyLimits {
  /** The members of all objects and arrays. */
  readonly members: number
  /** `Infinity` where only Fastify's `bodyLimit` applies. */
  readonly bytes: number
}

// With this many, the most expensive shapes take 15 ms, of which an object with so many different names takes a third to be parsed.
const defaultMembers = 5000
// Below these, unknown members, indents and unnecessary escapes get their own errors.
const leastMembers = 1000
const leastBytes = 65_536
const ofAnyBody: BodyLimits = { members: defaultMembers, bytes: Number.POSITIVE_INFINITY }
// Of two bytes for each member, one is a comma or a bracket.
const alwaysAccepted = 2 * leastMembers
const limitsKey: unique symbol = Symbol('concordat.bodyLimits')

/** Computes the limits of the body of a route from its schema. Shared schemas must have been added before the route. */
export function limitBody(app: FastifyInstance, route: RouteOptions): void {
  const { attachValidation, bodyLimit, validatorCompiler = app.validatorCompiler } = route
  const shared = app.getSchemas()
  const sizes = bodySchemas(route).map((schema) => sizeOf(schema, shared))
  // A compiler of the service, and a handler that reads the errors, may accept more than the schema.
  const isOpen = attachValidation === true || validatorCompiler !== undefined || sizes.some((size) => size.isOpen)
  const bytes = isOpen || bodyLimit !== undefined ? Number.POSITIVE_INFINITY : Math.max(leastBytes, ...sizes.map((size) => size.bytes))
  const members = Math.max(isOpen ? defaultMembers : leastMembers, ...sizes.map((size) => size.members))
  route.config = Object.assign({}, route.config, { [limitsKey]: { members, bytes } satisfies BodyLimits })
}

function bodySchemas({ schema }: RouteOptions): readonly unknown[] {
  const body: unknown = schema?.body
  if (!isObject(body)) return [body]
  const { content } = body
  return isObject(content) ? Object.values(content).map((ofType) => (isObject(ofType) ? ofType['schema'] : undefined)) : [body]
}

/** Returns the limits of a body of this size. */
export function bodyLimits({ routeOptions }: FastifyRequest, bytes: number): BodyLimits {
  if (bytes <= alwaysAccepted) return ofAnyBody
  return (routeOptions.config as { readonly [limitsKey]?: BodyLimits })[limitsKey] ?? ofAnyBody
}
