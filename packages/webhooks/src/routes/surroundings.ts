import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

type Resource = Readonly<Record<string, unknown>>

/** The part of the preconditions of a request that the routes use. */
interface Preconditions {
  /** Returns the subscription versions that the request requires; `'*'` for any version, `null` for no condition. */
  versions(): readonly string[] | '*' | null
  /** Returns the error to throw when the current version is a different one. */
  failed(currentVersion?: string | number): Error
}

/** What the routes use of plugins that are registered around them: links of the envelope, and the conditions of conditional-caching. */
export interface Surroundings {
  /** Sets 201 and the location of a new resource, relative to the prefix, and returns the body. A response with 202 then changes the status code. */
  readonly created: (reply: FastifyReply, path: string, resource: Resource) => unknown
  /** Adds a link to the response for a subscription or a delivery. The path is below the prefix. */
  readonly link: (reply: FastifyReply, relation: string, path: string, method: 'GET' | 'POST') => void
  /** Sets the entity tag of the response to a creation or a change. */
  readonly entityTag: (reply: FastifyReply, version: string) => void
  /** Returns the preconditions of a request; undefined without the plugin that reads them. */
  readonly preconditions: ((request: FastifyRequest) => Preconditions) | undefined
}

interface Enveloping {
  created(path: string, resource: Resource): unknown
  link(relation: string, path: string, method: string): void
}

interface Conditional {
  readonly preconditions: Preconditions
  entityTag(version: string): void
}

/** Finds the plugins around the routes. Both refuse to start after routes that they cover. */
export function surroundingsOf(app: FastifyInstance): Surroundings {
  const isEnveloped = contractOf(app, 'envelope') !== undefined
  const isConditional = contractOf(app, 'defaultCache') !== undefined
  return {
    created: (reply, path, resource) =>
      isEnveloped ? (reply as unknown as Enveloping).created(path, resource) : setCreated(reply, path, resource),
    link(reply, relation, path, method) {
      if (isEnveloped) (reply as unknown as Enveloping).link(relation, path, method)
    },
    entityTag(reply, version) {
      if (isConditional) (reply as unknown as Conditional).entityTag(version)
    },
    preconditions: isConditional ? (request) => (request as unknown as Conditional).preconditions : undefined
  }
}

function setCreated(reply: FastifyReply, path: string, resource: Resource) {
  reply.code(201).header('location', reply.server.prefix + path)
  return resource
}
