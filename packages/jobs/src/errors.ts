import { type ApiError, defineErrors, type ErrorList } from '@concordat/api-error'

const list = defineErrors(
  {
    JOB_NOT_FOUND: {
      statusCode: 404,
      message: { en: 'There is no such job. Check its address.', es: 'No existe tal trabajo. Compruebe su dirección.' },
      remedy: 'Use the address in the Location of the answer that accepted the job, with the credentials that started it.'
    },
    JOB_EXPIRED: {
      statusCode: 410,
      message: {
        en: 'The job is over and no longer kept. Start it again.',
        es: 'El trabajo terminó y ya no se conserva. Inícielo de nuevo.'
      },
      remedy: 'Start the job again, and fetch its result before it expires.'
    },
    JOB_ALREADY_OVER: {
      statusCode: 409,
      message: { en: 'The job is {status} and can’t be cancelled.', es: 'El trabajo está en estado {status} y no se puede cancelar.' },
      remedy: 'Read the job: it has ended before it was cancelled.'
    },
    JOB_HAS_NO_RESULT: {
      statusCode: 409,
      message: { en: 'The job is {status} and has no result.', es: 'El trabajo está en estado {status} y no tiene resultado.' },
      remedy: 'Read the status of the job until it is completed, then follow its link "result".'
    },
    JOB_KEY_REUSED: {
      statusCode: 422,
      message: {
        en: 'The key belongs to a job with another input. Use a new one.',
        es: 'La clave pertenece a un trabajo con otra entrada. Use una nueva.'
      },
      remedy: 'Use a new key for each job, and the same one only to repeat the same request.'
    },
    JOB_INPUT_INVALID: {
      statusCode: 422,
      message: { en: 'The job can’t be done with this input.', es: 'El trabajo no se puede realizar con esta entrada.' },
      remedy: 'Mend the fields that the error lists.',
      validation: true
    },
    JOB_FAILED: {
      statusCode: 500,
      message: { en: 'The job failed. Start it again later.', es: 'El trabajo falló. Inícielo de nuevo más tarde.' },
      remedy: 'Start the job again later. If it goes on failing, tell the service’s operators its jobId.'
    }
  },
  // In the words of error-catalogue, whose texts count where it is.
  {
    required: { en: 'is required', es: 'es obligatorio' },
    unknownProperty: { en: 'is not a known field', es: 'no es un campo conocido' },
    type: { en: 'must be of type {type}', es: 'debe ser de tipo {type}' },
    enum: { en: 'must be one of: {allowed}', es: 'debe ser uno de: {allowed}' },
    format: { en: 'must have the format {format}', es: 'debe tener el formato {format}' },
    minimum: { en: 'must be at least {limit}', es: 'debe ser al menos {limit}' },
    maximum: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' },
    invalid: { en: 'is not valid', es: 'no es válido' }
  }
)

/** What is wrong with one field of an input. */
export type InputProblem = { readonly field: string } & (
  | { readonly key: 'required' | 'unknownProperty' | 'invalid' }
  | { readonly key: 'type'; readonly params: { readonly type: string } }
  | { readonly key: 'enum'; readonly params: { readonly allowed: string } }
  | { readonly key: 'format'; readonly params: { readonly format: string } }
  | { readonly key: 'minimum' | 'maximum'; readonly params: { readonly limit: number } }
)

/** Every error that this package raises, for the catalogue's `include`; `JOB_FAILED` stands in records only. */
export const jobsErrors: ErrorList = list

export function jobNotFound(): ApiError {
  return list.create('JOB_NOT_FOUND')
}

export function jobExpired(): ApiError {
  return list.create('JOB_EXPIRED')
}

export function jobAlreadyOver(status: string): ApiError {
  return list.create('JOB_ALREADY_OVER', { params: { status } })
}

export function jobHasNoResult(status: string): ApiError {
  return list.create('JOB_HAS_NO_RESULT', { params: { status } })
}

export function jobKeyReused(): ApiError {
  return list.create('JOB_KEY_REUSED')
}

export function jobInputInvalid(errors: readonly InputProblem[]): ApiError {
  return list.create('JOB_INPUT_INVALID', { errors })
}

export const jobFailed: { readonly code: string; readonly message: string } = {
  code: 'JOB_FAILED',
  message: list.definitions.JOB_FAILED.message.en
}
