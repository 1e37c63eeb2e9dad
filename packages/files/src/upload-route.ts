import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notMultipart, tooLarge } from './errors.ts'
import type { UploadPlan } from './upload-plan.ts'

/** The media types that the parser of uploads reads. */
export const multipart: RegExp = /^multipart\/form-data(?:$|[\s;])/i
/** The key of the plan in the config of a route. */
export const planKey: unique symbol = Symbol('concordat.files.plan')

/** Returns the plan of the route of a request, or undefined for a route without uploads. */
export function planOfRoute({ routeOptions }: FastifyRequest): UploadPlan | undefined {
  return (routeOptions.config as { readonly [planKey]?: UploadPlan })[planKey]
}

/** A step that refuses a body before it is read. */
export function refuseByHeaders(request: FastifyRequest, reply: FastifyReply): Error | undefined {
  const { 'content-type': type, 'content-length': length } = request.headers
  const plan = planOfRoute(request) as UploadPlan
  const isTooLarge = Number(length) > plan.maxBytes
  if (!isTooLarge && (type === undefined || multipart.test(type))) return undefined
  // The body is not read.
  reply.header('connection', 'close')
  return isTooLarge ? tooLarge(plan.maxBytes) : notMultipart()
}

/** Throws an `Error` if another plugin parses the uploads of a route. */
export function requireOwnParser(context: FastifyInstance, route: string): void {
  if (context.hasContentTypeParser('multipart/form-data'))
    throw new Error(
      `files: ${route} has config.upload, but another plugin parses multipart/form-data there, such as @fastify/multipart. Register that plugin in a child context with the routes that need it.`
    )
}

/** Parses JSON without error-catalogue. */
export async function plainJson(text: string): Promise<unknown> {
  return JSON.parse(text)
}
