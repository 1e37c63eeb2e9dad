import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { type Failure, isOurFault, wholeBody, wholePart } from './failure.ts'

// The header that explains a status code (RFC 9110 §15.5.2, §15.5.6, §15.6.4; RFC 6585 §4).
const explaining = new Map([
  [401, 'www-authenticate'],
  [405, 'allow'],
  [429, 'retry-after'],
  [503, 'retry-after']
])

const bearerPlugins = ['@fastify/jwt', '@fastify/bearer-auth']

/**
 * Returns the failure with the header that explains its status code: of the error, otherwise of another plugin on the reply, otherwise what is true for the
 * request. A 422 without a known field names a part that the request has. A fault of the service has the id by which it is logged.
 */
export function forReply(failure: Failure, reply: FastifyReply, catalogue: TranslatedCatalogue): Failure {
  const { statusCode, code, headers, errors } = failure
  const { request } = reply
  const name = explaining.get(statusCode)
  if (name === undefined && errors !== wholeBody && !isOurFault(statusCode)) return failure
  const value = name === undefined ? undefined : (headers[name] ?? reply.getHeader(name) ?? truthOf(name, request))
  return {
    ...failure,
    headers: {
      ...(isOurFault(statusCode) && !reply.hasHeader('request-id') && { 'request-id': request.id }),
      ...headers,
      ...(value !== undefined && { [name as string]: String(value) })
    },
    ...(value === undefined &&
      name !== undefined &&
      mentions(failure, name) && { messages: { ...failure.messages, ...catalogue.translated.get(`general.${code}`) } }),
    ...(errors === wholeBody && { errors: wholePart(partOf(request)) })
  }
}

// Without texts of its own, the failure has those of its code in the catalogue.
function mentions({ messages }: Failure, header: string) {
  return messages === undefined || new RegExp(`\\b${header}\\b`, 'i').test(JSON.stringify(messages))
}

function truthOf(name: string, request: FastifyRequest): string | undefined {
  if (name === 'www-authenticate') return challengeFor(request)
  const allowed = name === 'allow' ? otherMethods(request).join(', ') : ''
  return allowed === '' ? undefined : allowed
}

// HTTP requires a challenge, but no scheme is registered for what a service does without the Authorization header, for example with a cookie.
function challengeFor({ server }: FastifyRequest) {
  const acceptsBearer = contractOf(server, 'clients') !== undefined || bearerPlugins.some((name) => server.hasPlugin(name))
  return `${acceptsBearer ? 'Bearer' : 'Custom'} realm="api"`
}

// The method of the request was refused, so it is not among them. The list is empty where the resource has no others, and an empty Allow says nothing.
function otherMethods(request: FastifyRequest): readonly string[] {
  const { server, method, routeOptions } = request
  const all =
    contractOf(server, 'allowedMethods')?.(request) ??
    server.supportedMethods.filter((other) => routeOptions.url !== undefined && server.hasRoute({ method: other, url: routeOptions.url }))
  const refused = method === 'GET' || method === 'HEAD' ? ['GET', 'HEAD'] : [method]
  return all.filter((other) => !refused.includes(other))
}

// The part that can have the invalid value. A request without any of them can only lack its body.
function partOf({ body, headers, query, params }: FastifyRequest) {
  if ((body ?? undefined) !== undefined || headers['content-type'] !== undefined) return 'body'
  return hasMembers(query) ? 'query' : hasMembers(params) ? 'path' : 'body'
}

function hasMembers(part: unknown) {
  return Object.keys(part ?? {}).length > 0
}
