import { isObject, type JsonSchema, pointerOf, type StandardIssue, type StandardResult } from '@concordat/plugin-kit/json-schema'
import type { FastifyRequest } from 'fastify'
import { equivalentOf } from './library-messages.ts'
import type { RequestCheck } from './route-schema.ts'
import { withoutUnsent } from './unsent-members.ts'

// error-catalogue recognizes it: the message of the entry is for clients.
const keyword = '~standard'
const maxIssues = 100

/**
 * Validates the parts of a request, and replaces each by the output of its schema, in the body of a PATCH without defaults. Returns the
 * error that Fastify itself raises for an invalid request, or, if the route has `attachValidation`, sets `request.validationError`. A schema that
 * validates asynchronously makes the result a promise.
 */
export function checkRequest(
  checks: readonly RequestCheck[],
  request: FastifyRequest,
  from = 0
): Error | undefined | Promise<Error | undefined> {
  for (let index = from; index < checks.length; index += 1) {
    const { part, schemas } = checks[index] as RequestCheck
    const schema = schemaFor(part, schemas, request)
    if (schema === undefined) continue
    const result = schema.library['~standard'].validate(request[part])
    if (result instanceof Promise) {
      return result.then((late) => {
        const issues = settle(request, part, schema.json, late)
        return issues === undefined ? checkRequest(checks, request, index + 1) : refuse(request, part, issues)
      })
    }
    const issues = settle(request, part, schema.json, result)
    if (issues !== undefined) return refuse(request, part, issues)
  }
  return undefined
}

function settle(request: FastifyRequest, part: RequestCheck['part'], json: JsonSchema, result: StandardResult) {
  if (result.issues !== undefined) return result.issues
  // A default would replace a stored value that the client did not send.
  const hasNoDefaults = part === 'body' && request.method === 'PATCH'
  Object.assign(request, { [part]: hasNoDefaults ? withoutUnsent(json, request.body, result.value) : result.value })
  return undefined
}

function refuse(request: FastifyRequest, part: RequestCheck['part'], issues: readonly StandardIssue[]) {
  const validationError = invalid(part, issues)
  if (!request.routeOptions.attachValidation) return validationError
  Object.assign(request, { validationError })
  return undefined
}

function schemaFor(part: RequestCheck['part'], schemas: RequestCheck['schemas'], { body, mediaType = '', routeOptions }: FastifyRequest) {
  const whole = schemas.get('')
  if (whole === undefined) return schemas.get(mediaType)
  // On a route that also accepts bytes, the schema has become a map of media types, and does not apply to the bytes.
  const isBytes = part === 'body' && Buffer.isBuffer(body) && isObject(routeOptions.schema?.body) && 'content' in routeOptions.schema.body
  return isBytes ? undefined : whole
}

// The shape of the error that Fastify creates, with which every error handler is familiar.
function invalid(part: RequestCheck['part'], issues: readonly StandardIssue[]): Error {
  const validation = issues.slice(0, maxIssues).map((issue) => ({
    // A JSON pointer (RFC 6901 §3).
    instancePath: pointerOf((issue.path ?? []).map(stepOf)),
    schemaPath: '#',
    ...(equivalentOf(issue) ?? { keyword, params: {} }),
    message: issue.message
  }))
  const validationContext = part === 'query' ? 'querystring' : part
  const [first] = validation
  return Object.assign(new Error(`${validationContext}${first?.instancePath ?? ''} ${first?.message ?? 'is invalid'}`), {
    code: 'FST_ERR_VALIDATION',
    statusCode: 400,
    validation,
    validationContext
  })
}

/** Returns the key of a step in the path of an issue, as text. */
export function stepOf(step: NonNullable<StandardIssue['path']>[number]): string {
  return String(typeof step === 'object' ? step.key : step)
}
