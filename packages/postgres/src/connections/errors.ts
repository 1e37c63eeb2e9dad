import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

// Mistakes of the service: the response names no details, and the log has the cause.
const ours = sharedDefinitions.INTERNAL_ERROR

const list = defineErrors({
  TRANSACTION_ENDED: ours,
  TRANSACTION_REQUIRED: ours,
  TRANSACTION_ROLLED_BACK: ours,
  TRANSACTION_RESPONSE_REFUSED: ours,
  TRANSACTION_TENANT_DIFFERS: ours,
  TRANSACTION_CONFLICT: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'Other requests changed the same data at the same time. Try again after the number of seconds in Retry-After.',
      es: 'Otras peticiones cambiaron los mismos datos al mismo tiempo. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy: 'Nothing was changed. Retry after the number of seconds in Retry-After.'
  },
  TRANSACTION_UNAVAILABLE: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'The database is temporarily unavailable. Try again after the number of seconds in Retry-After.',
      es: 'La base de datos no está disponible temporalmente. Inténtelo de nuevo tras los segundos que indica Retry-After.'
    },
    remedy:
      'Retry after the number of seconds in Retry-After. If the request has an Idempotency-Key, keep it: the request may have been executed.'
  }
})

/** Every error that the unit of work raises, for `include` of the error catalogue. */
export const postgresErrors: ErrorList = list

const rowList = defineErrors({
  RESOURCE_IN_USE: {
    statusCode: 409,
    message: {
      en: 'Other resources refer to this one. Delete or change them first.',
      es: 'Otros recursos se refieren a este. Elimínelos o modifíquelos primero.'
    },
    remedy: 'Delete the resources that refer to this one, or let them refer to another one.'
  },
  RESOURCE_DELETED: {
    statusCode: 409,
    message: {
      en: 'A resource with this identifier was deleted. Restore it, or choose another identifier.',
      es: 'Se eliminó un recurso con este identificador. Restáurelo o elija otro identificador.'
    },
    remedy: 'Restore the deleted resource, or choose another identifier.'
  },
  RESOURCE_NOT_DELETED: {
    statusCode: 409,
    message: {
      en: 'The resource is not deleted, so it cannot be restored.',
      es: 'El recurso no está eliminado, por lo que no se puede restaurar.'
    },
    remedy: 'The resource exists. Fetch it.'
  },
  RESOURCE_VALUE_TAKEN: {
    statusCode: 409,
    message: {
      en: 'Another resource has a value of this one that must be unique. Change that resource first.',
      es: 'Otro recurso tiene un valor de este que debe ser único. Modifique antes ese recurso.'
    },
    remedy: 'Change or delete the resource that has the value now, then restore this one.'
  },
  RESOURCE_NOT_FOUND: sharedDefinitions.RESOURCE_NOT_FOUND,
  SERVICE_UNAVAILABLE: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'The service is temporarily unavailable. Try again later.',
      es: 'El servicio no está disponible temporalmente. Inténtelo más tarde.'
    },
    remedy: 'Send the same request again after the number of seconds in Retry-After.'
  }
})

/** Every error that the stores and `@concordat/postgres/rows` raise, for `include` of the error catalogue. */
export const postgresRowErrors: ErrorList = rowList

/** For a transaction that was used after its end, for example by a handler that continues after its timeout. */
export function transactionEnded(): ApiError {
  return list.create('TRANSACTION_ENDED', {
    cause: new Error(
      'The transaction has ended, because the response is being sent or the request timed out. Await every query before the handler returns.'
    )
  })
}

/** For a query outside the transaction that it needs. `reason` is for the log. */
export function transactionRequired(reason: string): ApiError {
  return list.create('TRANSACTION_REQUIRED', { cause: new Error(reason) })
}

/** For a request that would share the transaction of another tenant. */
export function tenantDiffers(): ApiError {
  return list.create('TRANSACTION_TENANT_DIFFERS', {
    cause: new Error(
      'This request has another tenant than the handler that injected it, and would share its transaction. Inject it from a handler without a transaction.'
    )
  })
}

/** For a COMMIT that rolled back because a statement had failed and the failure was ignored. */
export function transactionRolledBack(cause: unknown): ApiError {
  return list.create('TRANSACTION_ROLLED_BACK', { cause })
}

/** For a response that is not complete before the commit, such as a stream or a hijacked reply. `reason` is for the log. */
export function replyRefused(reason: string): ApiError {
  return list.create('TRANSACTION_RESPONSE_REFUSED', { cause: new Error(reason) })
}

/** For a serialization failure or a deadlock (SQLSTATE 40001, 40P01). Nothing was changed. */
export function transactionConflict(cause: unknown): ApiError {
  return list.create('TRANSACTION_CONFLICT', { headers: { 'retry-after': '1' }, cause })
}

/** For a connection that could not be made or was lost. If it was lost during COMMIT, the outcome is unknown. */
export function transactionUnavailable(cause: unknown): ApiError {
  return list.create('TRANSACTION_UNAVAILABLE', { headers: { 'retry-after': '1' }, cause })
}

/** For a row that does not exist. */
export function rowMissing(): ApiError {
  return rowList.create('RESOURCE_NOT_FOUND')
}

/** For a new row with the key of a deleted one. */
export function rowDeleted(): ApiError {
  return rowList.create('RESOURCE_DELETED')
}

/** For the restoration of a row that is not deleted. */
export function rowNotDeleted(): ApiError {
  return rowList.create('RESOURCE_NOT_DELETED')
}

/** For the restoration of a row whose unique value another one has now. */
export function valueTaken(cause: unknown): ApiError {
  return rowList.create('RESOURCE_VALUE_TAKEN', { cause })
}

/** For a row that other rows reference. */
export function rowInUse(cause: unknown): ApiError {
  return rowList.create('RESOURCE_IN_USE', { cause })
}

/** For a database that cannot be reached, outside the transaction of a request. */
export function databaseUnavailable(cause: unknown): ApiError {
  return rowList.create('SERVICE_UNAVAILABLE', { headers: { 'retry-after': '2' }, cause })
}
