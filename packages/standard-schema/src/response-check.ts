import type { StandardIssue, StandardResult, StandardSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { withoutNulls } from './null-members.ts'
import { stepOf } from './request-check.ts'
import type { ResponseChecks } from './route-schema.ts'

type Next = (error: Error | null, payload?: unknown) => void

/**
 * Returns a preSerialization hook that replaces a payload by the output of its schema. Members that are null, as in database rows, are left out
 * where the schema does not allow null (rule F3). A payload that does not match the schema is an error of the service.
 */
export function responseCheck(
  checks: ResponseChecks
): (request: FastifyRequest, reply: FastifyReply, payload: unknown, next: Next) => void {
  return (request, reply, payload, next) => {
    const schema = schemaFor(checks, reply)?.library
    if (schema === undefined) return next(null, payload)
    validate(payload, (result) => {
      const reduced = result.issues === undefined ? payload : withoutNulls(payload, result.issues)
      if (reduced === payload) settle(result)
      else validate(reduced, settle)
    })

    function validate(value: unknown, then: (result: StandardResult) => void) {
      const result = (schema as StandardSchema)['~standard'].validate(value)
      if (result instanceof Promise) result.then(then, next)
      else then(result)
    }

    function settle({ issues, ...output }: { value?: unknown } & Pick<StandardResult, 'issues'>) {
      if (issues === undefined) return next(null, output.value)
      const places = issues.slice(0, 10).map(reasonOf).join('; ')
      next(
        new TypeError(
          `standard-schema: ${request.method} ${request.routeOptions.url} returned a value that does not match schema.response: ${places}. Return what the schema accepts.`
        )
      )
    }
  }
}

function schemaFor(checks: ResponseChecks, reply: FastifyReply) {
  const status = String(reply.statusCode)
  const schemas = checks.get(status) ?? checks.get(`${status[0]}xx`) ?? checks.get('default')
  if (schemas === undefined) return undefined
  const type = String(reply.getHeader('content-type') ?? 'application/json')
  return schemas.get('') ?? schemas.get(type.replace(/ *;.*$/s, '').toLowerCase())
}

// Without the message of the library, which can contain the value, and a value can be a secret.
function reasonOf({ path = [], ...issue }: StandardIssue & { readonly expected?: unknown; readonly code?: unknown }) {
  const place = path.length === 0 ? 'the whole value' : path.map(stepOf).join('.')
  if (typeof issue.expected === 'string') return `${place} (expected ${issue.expected})`
  return typeof issue.code === 'string' ? `${place} (${issue.code})` : place
}
