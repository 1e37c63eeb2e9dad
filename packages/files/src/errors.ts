import { type ApiError, defineErrors, type ErrorList, sharedDefinitions } from '@concordat/plugin-kit/api-error'

const { MALFORMED_MULTIPART, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE } = sharedDefinitions

const list = defineErrors(
  {
    MALFORMED_MULTIPART,
    PAYLOAD_TOO_LARGE,
    UNSUPPORTED_MEDIA_TYPE,
    RANGE_NOT_SATISFIABLE: {
      statusCode: 416,
      message: {
        en: 'The file does not have the requested range. Request a range within the length in Content-Range.',
        es: 'El archivo no tiene el intervalo pedido. Pida un intervalo dentro de la longitud indicada en Content-Range.'
      },
      remedy: 'Request a range within the length that Content-Range states, or omit Range.'
    }
  },
  {
    maxBytes: {
      en: { plural: 'limit', one: 'must have at most {limit, number} byte', other: 'must have at most {limit, number} bytes' },
      es: {
        plural: 'limit',
        one: 'debe tener como máximo {limit, number} byte',
        many: 'debe tener como máximo {limit, number} de bytes',
        other: 'debe tener como máximo {limit, number} bytes'
      }
    },
    mediaType: { en: 'must have the Content-Type {allowed}', es: 'debe tener el Content-Type {allowed}' },
    content: { en: 'must contain data of its Content-Type {type}', es: 'debe contener datos de su Content-Type {type}' }
  }
)

/** Every error that this package can raise. */
export const filesErrors: ErrorList = list

/** The error for a body that is not a complete multipart body. */
export function malformedMultipart(cause: unknown): ApiError {
  return list.create('MALFORMED_MULTIPART', { cause })
}

/** The error for a body that is not multipart. */
export function notMultipart(): ApiError {
  return list.create('UNSUPPORTED_MEDIA_TYPE', { headers: { accept: 'multipart/form-data' } })
}

/** The error for a body that is too large, or for a part of it, such as `body.cover`. */
export function tooLarge(limit: number, field = 'body'): ApiError {
  return list.create('PAYLOAD_TOO_LARGE', { errors: [{ field, key: 'maxBytes', params: { limit } }] })
}

/** The error for a file whose Content-Type is not one of these. */
export function otherType(field: string, allowed: readonly string[]): ApiError {
  return list.create('UNSUPPORTED_MEDIA_TYPE', { errors: [{ field, key: 'mediaType', params: { allowed: allowed.join(', ') } }] })
}

/** The error for a file whose bytes are not of its Content-Type. */
export function otherContent(field: string, type: string): ApiError {
  return list.create('UNSUPPORTED_MEDIA_TYPE', { errors: [{ field, key: 'content', params: { type } }] })
}

/** The error for a range that begins after the end of the file. */
export function rangeNotSatisfiable(size: number): ApiError {
  return list.create('RANGE_NOT_SATISFIABLE', { headers: { 'content-range': `bytes */${size}` } })
}

/** A part that is wrong: the keyword of JSON Schema that would refuse it, its place, and the parameters of its message. */
export interface PartFault {
  readonly keyword: 'required' | 'additionalProperties' | 'maxItems'
  readonly instancePath: string
  readonly params: Readonly<Record<string, string | number>>
  readonly message: string
}

/** The error for parts that are missing, unknown or too many, in the form of Fastify's own validation errors. */
export function invalidParts(validation: readonly PartFault[]): Error {
  const text = validation.map(({ instancePath, message }) => `body${instancePath} ${message}`).join(', ')
  return Object.assign(new Error(text), { code: 'FST_ERR_VALIDATION', statusCode: 400, validation, validationContext: 'body' })
}

/** The fault of a part that is required and missing. */
export function required(name: string): PartFault {
  return { keyword: 'required', instancePath: '', params: { missingProperty: name }, message: `must have required property '${name}'` }
}

/** The fault of a part that the route does not declare. */
export function unknownPart(name: string): PartFault {
  return {
    keyword: 'additionalProperties',
    instancePath: '',
    params: { additionalProperty: name },
    message: `must not have the part '${name}'`
  }
}

/** The fault of a part that occurs too often; at the path `''`, of all fields together. */
export function tooMany(instancePath: string, limit: number): PartFault {
  return { keyword: 'maxItems', instancePath, params: { limit }, message: `must NOT have more than ${limit} items` }
}
