import { reportChangedStatus } from '@concordat/plugin-kit/api-error'
import type { outageLog } from '@concordat/plugin-kit/outage-log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { translationOf } from '../catalogue/translation.ts'
import type { Settings } from '../options.ts'
import { type Failure, failureFrom, failureOf, statusOf, translatedFailure } from './failure.ts'
import { refusedValue } from './refused-value.ts'

/** The key of the reply property that contains the newest error with its failure, so that an error is translated once. */
export const readFailure: unique symbol = Symbol('concordat.readFailure')
type FailedReply = FastifyReply & { [readFailure]?: { readonly error: unknown; readonly failure: Failure } | null }

/** Returns functions that find the failure of an error on a reply: one that was thrown, and one whose response other code has sent. */
export function failureReader({ translate }: Settings, catalogue: TranslatedCatalogue, reportFault: ReturnType<typeof outageLog>) {
  return { failureOn, failureSent }

  function failureOn(reply: FastifyReply, error: unknown): Failure {
    const { [readFailure]: known, request } = reply as FailedReply
    if (known && known.error === error) return known.failure
    const validationCode = request.routeOptions.config?.validationCode ?? 'VALIDATION_FAILED'
    const refused = refusedValue(error, request) ?? error
    const failure = failureFrom(refused, catalogue, validationCode, (thrown) => translated(thrown, request))
    ;(reply as FailedReply)[readFailure] = { error, failure }
    return failure
  }

  function translated(error: unknown, request: FastifyRequest): Failure | undefined {
    if (translate === undefined) return undefined
    try {
      const result = translationOf(translate, error, request)
      return result && translatedFailure(result, catalogue)
    } catch (fault) {
      reportFault(fault, 'error-catalogue: options.translate threw an error or returned an invalid value, so a 500 is sent', request.log)
      return { ...failureOf(catalogue.ofStatus(500)), knownBy: 'translate' }
    }
  }

  // Of an error response that other code sent, whose status code takes precedence over that of the error. But an error handler that makes a 5xx of an
  // error which the suite or `translate` knows does not know it.
  function failureSent(reply: FastifyReply, error: unknown, statusCode: number, isOfHandler: boolean): Failure {
    if (error === null || error === undefined) return failureOf(catalogue.ofStatus(statusCode))
    const failure = failureOn(reply, error)
    const { knownBy } = failure
    if (statusCode === failure.statusCode || statusCode === statusOf(error)) return failure
    const isLost = isOfHandler && statusCode >= 500 && (knownBy === 'suite' || knownBy === 'translate')
    if (isOfHandler && knownBy === 'suite')
      reportChangedStatus(reply.request, failure, statusCode, isLost ? `The response has ${failure.statusCode} nevertheless. ` : '')
    return isLost ? failure : failureOf(catalogue.ofStatus(statusCode))
  }
}
