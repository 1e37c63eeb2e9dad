import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { unenvelopedResponse } from './errors.ts'
import { nullRemoval, type SchemaLookup } from './null-removal.ts'
import type { DeclaredResponses } from './response-schemas.ts'

/** What happens to the responses of a route with a successful status that it does not declare. */
export interface UndeclaredResponses {
  /**
   * Returns whether a response has such a status and must be sent nevertheless: without a transaction, what the handler did cannot be undone, and after a
   * 500 clients would repeat it. Logs it once. Throws for a read, and for a response in a transaction, which is then rolled back.
   */
  mustBeSent(request: FastifyRequest, statusCode: number): boolean
  /** Returns the data of such a response and sets its serializer: what the resource of another response declares, because the rest can be internal. */
  dataOf(reply: FastifyReply, data: unknown): unknown
}

/** Creates what a route does with statuses that it does not declare. */
export function undeclaredResponses({ response, resources }: DeclaredResponses, lookup: SchemaLookup): UndeclaredResponses {
  const statuses = new Set(Object.keys(response).map((status) => status.toLowerCase()))
  const [declared] = resources
  // Later, because a shared schema can be added after the route.
  let withoutNulls: ReturnType<typeof nullRemoval> | undefined
  const logged = new Set<number>()
  return { mustBeSent, dataOf }

  function mustBeSent(request: FastifyRequest, statusCode: number) {
    // A 206 is a part of a representation, which the envelope is not.
    if (statusCode === 206 || statuses.has(String(statusCode)) || statuses.has('2xx')) return false
    const reason = `${nameOf(request)} responded with ${statusCode}, which its schema.response does not declare.`
    const hasNoEffect = request.method === 'GET' || request.method === 'HEAD'
    if (hasNoEffect || contractOf(request.server, 'transactions')?.transactionOf(request) !== undefined) throw unenvelopedResponse(reason)
    if (!logged.has(statusCode))
      request.log.error(`envelope: ${reason} It is sent, because no transaction undoes what the handler did. Declare the status.`)
    logged.add(statusCode)
    return true
  }

  function dataOf(reply: FastifyReply, data: unknown) {
    if (declared === undefined || data === null || data === undefined) return null
    const [status, schema] = declared
    const serialize = serializerOf(reply, status)
    if (serialize === undefined) return null
    withoutNulls ??= nullRemoval(schema, lookup)
    reply.serializer((payload: object) => {
      try {
        return serialize(payload)
      } catch {
        // The data does not match the other response.
        return JSON.stringify({ ...payload, data: null })
      }
    })
    return withoutNulls(data)
  }
}

// A response with several media types has a serializer for each.
function serializerOf(reply: FastifyReply, status: string): ((payload: object) => string) | undefined {
  const serialize: unknown = reply.getSerializationFunction(status)
  const found = typeof serialize === 'function' ? serialize : reply.getSerializationFunction(status, 'application/json')
  return found as ((payload: object) => string) | undefined
}

/** Returns the name of a route, for messages. */
export function nameOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions.url}`
}
