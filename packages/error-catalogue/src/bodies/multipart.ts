import type { FastifyRequest } from 'fastify'
import { errorCatalogueErrors } from '../catalogue/errors.ts'
import { maxDepth } from './json-body.ts'
import { invalidPart, unstorableValues } from './storable-values.ts'

// A part of @fastify/multipart: a file, or a field with a value. `fields` has every part that was read until now.
interface Part {
  readonly fieldname: string
  readonly filename?: string | undefined
  readonly mimetype?: string | undefined
  readonly value?: unknown
  readonly file?: { resume(): unknown } | undefined
  readonly fields: Readonly<Record<string, Part | readonly Part[]>>
}
type Iterate = (...options: unknown[]) => AsyncIterable<Part>
type MultipartRequest = FastifyRequest & {
  parts?: Iterate
  files?: Iterate
  file?: (...options: unknown[]) => Promise<Part | undefined>
}

// The messages of the parser below @fastify/multipart, whose errors have neither a code nor a status.
const malformed =
  /^(?:Multipart: Boundary not found|The needle cannot have a length bigger than 256\.|(?:\w+ terminated early due to u|U)nexpected end of multipart data)$/

// Of a field with JSON, which @fastify/multipart has parsed.
const maxValues = 10_000

// What is deep or wide costs much more to check than to send.
function requireBounded(value: unknown): void {
  let left = maxValues
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    left -= level.length
    if (left < 0) throw errorCatalogueErrors.create('PAYLOAD_TOO_LARGE')
    const containers = level.filter((one): one is object => typeof one === 'object' && one !== null && !Buffer.isBuffer(one))
    if (depth === maxDepth && containers.length > 0) throw errorCatalogueErrors.create('JSON_TOO_DEEP', { params: { limit: maxDepth } })
    level = containers.flatMap((one) => Object.values(one))
  }
}

/** Returns the error code for an error that the parser of a multipart body throws. */
export function multipartCodeOf(thrown: object): string | undefined {
  const { message, statusCode } = thrown as { readonly message?: unknown; readonly statusCode?: unknown }
  return statusCode === undefined && typeof message === 'string' && malformed.test(message) ? 'MALFORMED_MULTIPART' : undefined
}

/** Makes the functions of @fastify/multipart throw for a name, a media type or the value of a field that cannot be stored. Files are not read. */
export function guardParts(request: FastifyRequest): void {
  const { parts, files, file } = request as MultipartRequest
  if (parts === undefined || files === undefined || file === undefined) return
  const checked = new WeakSet<Part>()
  Object.assign(request, { parts: guarded(parts), files: guarded(files), file: guardedFile })

  function guarded(read: Iterate): Iterate {
    return async function* readParts(...options) {
      for await (const part of read.apply(request, options)) yield withGuard(part)
    }
  }

  async function guardedFile(...options: unknown[]) {
    const part = await file?.apply(request, options)
    return part && withGuard(part)
  }

  // The handler can read `fields` when later parts have arrived, so it is checked when it is read.
  function withGuard(part: Part): Part {
    const { fields } = part
    requireStorable(part)
    return Object.defineProperty(part, 'fields', {
      get() {
        for (const field of Object.values(fields).flat()) requireStorable(field)
        return fields
      }
    })
  }

  function requireStorable(part: Part) {
    if (checked.has(part)) return
    const { fieldname, filename, mimetype, value, file } = part
    requireBounded(value)
    const text = typeof value === 'object' ? value : [typeof value === 'string' ? value : '', filename, mimetype].join(' ')
    const errors = unstorableValues({ [fieldname]: text })
    if (errors.length > 0) {
      // The rest of the body must not wait for a reader.
      file?.resume()
      throw invalidPart('body', errors)
    }
    checked.add(part)
  }
}
