import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

// Mistakes of the service: a client learns no more than that, and the log has the cause.
const ours = {
  statusCode: 500,
  message: {
    en: 'The service failed to process the request. If it happens again, report the Request-Id.',
    es: 'El servicio no pudo procesar la petición. Si vuelve a ocurrir, comunique el Request-Id.'
  },
  remedy: 'Try again later. If it keeps failing, report the Request-Id.'
} as const

const list = defineErrors({
  TRANSACTION_ENDED: ours,
  TRANSACTION_REQUIRED: ours,
  TRANSACTION_ROLLED_BACK: ours,
  TRANSACTION_ANSWER_REFUSED: ours,
  TRANSACTION_CONFLICT: {
    statusCode: 503,
    message: {
      en: 'Other requests changed the same data at the same time. Try again after the number of seconds in Retry-After.',
      es: 'Otras peticiones cambiaron los mismos datos al mismo tiempo. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy: 'Nothing was changed. Retry after the number of seconds in Retry-After.'
  },
  TRANSACTION_UNAVAILABLE: {
    statusCode: 503,
    message: {
      en: 'The database is temporarily unavailable. Try again after the number of seconds in Retry-After.',
      es: 'La base de datos no está disponible temporalmente. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy:
      'Retry after the number of seconds in Retry-After. If the request has an Idempotency-Key, keep it: the request may have been executed.'
  }
})

/** Every error that the unit of work raises, for the catalogue's `include`. */
export const transactionErrors: ErrorList = list

/** 500: a transaction was used after its end, as by a handler that goes on after its time was over. */
export function transactionEnded(): ApiError {
  return list.create('TRANSACTION_ENDED', {
    cause: new Error('The transaction of this request has ended: its answer is on the way, or its time is over. Await every query before.')
  })
}

/** 500: the database was asked beside the open transaction of the handler that asks; it would wait for itself. */
export function transactionRequired(): ApiError {
  return list.create('TRANSACTION_REQUIRED', {
    cause: new Error(
      'This handler has an open transaction and asks the database beside it. Use request.transaction, or ask before its first query.'
    )
  })
}

/** 500: what was to be committed was rolled back, because a statement had failed and the failure was ignored. */
export function transactionRolledBack(cause: unknown): ApiError {
  return list.create('TRANSACTION_ROLLED_BACK', { cause })
}

/** 500: an answer that can't be known before the commit; `reason` is for the log. */
export function answerRefused(reason: string): ApiError {
  return list.create('TRANSACTION_ANSWER_REFUSED', { cause: new Error(reason) })
}

/** 503: PostgreSQL could not put this transaction in order with others (SQLSTATE 40001, 40P01). Nothing was changed. */
export function transactionConflict(cause: unknown): ApiError {
  return list.create('TRANSACTION_CONFLICT', { headers: { 'retry-after': '1' }, cause })
}

/** 503: no connection could be had, or it broke. Where it broke during COMMIT, nobody knows whether the transaction took effect. */
export function transactionUnavailable(cause: unknown): ApiError {
  return list.create('TRANSACTION_UNAVAILABLE', { headers: { 'retry-after': '1' }, cause })
}
