import type { OperationParts } from '@concordat/plugin-kit/wiring'
import { transportSecurityErrors } from './errors.ts'
import { ownGenerators, requestIdSchema } from './headers/request-id.ts'

/** Returns what every operation of an instance gets. The form of the request ids is known unless the service has a generator of its own. */
export function operationParts(app: object): OperationParts {
  // The types of Fastify do not have it.
  const { genReqId } = app as { readonly genReqId?: object }
  const schema = genReqId !== undefined && ownGenerators.has(genReqId) ? requestIdSchema : { type: 'string' }
  const description = 'The unique id of the request. Include it when you report a problem.'
  return { errors: Object.keys(transportSecurityErrors.definitions), headers: { 'Request-Id': { description, schema } } }
}
