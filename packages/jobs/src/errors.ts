import { defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

/** The errors of this package, with the types of their params. */
export const errors = defineErrors(
  {
    JOB_NOT_FOUND: {
      statusCode: 404,
      message: { en: 'The job was not found. Check its URL.', es: 'No se encontró el trabajo. Revise su URL.' },
      remedy: 'Use the URL in the Location header of the response that accepted the job, with the credentials that started it.'
    },
    JOB_EXPIRED: {
      statusCode: 410,
      message: {
        en: 'The job has expired and was removed. Start it again.',
        es: 'El trabajo ha caducado y se eliminó. Inícielo de nuevo.'
      },
      remedy: 'Start the job again, and fetch its result before it expires.'
    },
    JOB_ALREADY_OVER: {
      statusCode: 409,
      message: {
        en: 'The job cannot be cancelled, because its status is {status}.',
        es: 'El trabajo no se puede cancelar porque su estado es {status}.'
      },
      remedy: 'Fetch the job to get its final status.'
    },
    JOB_HAS_NO_RESULT: {
      statusCode: 409,
      message: {
        en: 'The job has no result, because its status is {status}.',
        es: 'El trabajo no tiene resultado porque su estado es {status}.'
      },
      remedy: 'Poll the job until its `status` is `completed`, then follow its `result` link.'
    },
    JOB_KEY_REUSED: {
      statusCode: 422,
      message: {
        en: 'The key was used for a job with a different input. Use a new key.',
        es: 'La clave se usó para un trabajo con otra entrada. Use una clave nueva.'
      },
      remedy: 'Use a new key for each job, and the same key only to repeat the same request.'
    },
    JOB_LIMIT_EXCEEDED: {
      statusCode: 429,
      message: {
        en: {
          plural: 'limit',
          one: 'You have {limit, number} job of this type that has not ended. Wait until it ends, or cancel it.',
          other: 'You have {limit, number} jobs of this type that have not ended. Wait until one ends, or cancel one.'
        },
        es: {
          plural: 'limit',
          one: 'Tiene {limit, number} trabajo de este tipo que no ha terminado. Espere a que termine, o cancélelo.',
          many: 'Tiene {limit, number} de trabajos de este tipo que no han terminado. Espere a que termine uno, o cancele uno.',
          other: 'Tiene {limit, number} trabajos de este tipo que no han terminado. Espere a que termine uno, o cancele uno.'
        }
      },
      remedy: 'Wait for the time in Retry-After, or cancel a job that you do not need.'
    },
    JOB_INPUT_INVALID: {
      statusCode: 422,
      message: {
        en: 'The input of the job is invalid. Fix the fields listed in `errors`.',
        es: 'La entrada del trabajo no es válida. Corrija los campos indicados en `errors`.'
      },
      remedy: 'Fix the fields listed in `errors`.',
      validation: true
    },
    JOB_FAILED: {
      statusCode: 500,
      retry: 'changed',
      effect: 'unknown',
      message: { en: 'The job failed. Start it again later.', es: 'El trabajo falló. Inícielo de nuevo más tarde.' },
      remedy: 'Start the job again later. If it keeps failing, report the `jobId` to the operators.'
    },
    CLIENT_NOT_IDENTIFIED: sharedDefinitions.CLIENT_NOT_IDENTIFIED
  },
  // Same texts as in error-catalogue, which takes precedence when it is registered.
  {
    required: { en: 'is required', es: 'es obligatorio' },
    unknownProperty: { en: 'is not a known field', es: 'no es un campo conocido' },
    type: { en: 'must be of type {type}', es: 'debe ser de tipo {type}' },
    enum: { en: 'must be one of: {allowed}', es: 'debe ser uno de: {allowed}' },
    format: { en: 'must have the format {format}', es: 'debe tener el formato {format}' },
    minimum: { en: 'must be at least {limit}', es: 'debe ser al menos {limit}' },
    maximum: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' },
    invalid: { en: 'is invalid', es: 'no es válido' },
    inputOfKey: {
      en: 'differs from the input of the job that was started with the same key',
      es: 'difiere de la entrada del trabajo que se inició con la misma clave'
    }
  }
)

/** Problem with one field of an input. */
export interface InputProblem {
  readonly field: string
  readonly key: keyof typeof errors.fieldMessages
  readonly params?: Readonly<Record<string, string | number>> | undefined
}

/** All errors of this package, for the catalogue's `include`. `JOB_FAILED` appears only in job records. */
export const jobsErrors: ErrorList = errors

export const jobFailed: { readonly code: string; readonly message: string } = {
  code: 'JOB_FAILED',
  message: errors.definitions.JOB_FAILED.message.en
}
