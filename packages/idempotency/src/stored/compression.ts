import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import type { StoredResponse } from './store.ts'

// The functions run in the thread pool, so that they do not block the event loop.
const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** The name under which the coding of a compressed body is stored with the header fields. It is never sent. */
export const codingField = 'idempotency-coding'

/** The largest value of `maxStoredBytes`, and so the most that a stored body can decompress to. */
export const maxBodyBytes: number = 16 * 1024 * 1024

// A shorter body saves little, and would take longer to store.
const minLength = 1024

// The fastest quality: others save a few percent, and take several times as long.
const params = { [constants.BROTLI_PARAM_QUALITY]: 1 }

/** Returns the response with its body compressed, or as it is if that would not make it smaller. Synchronous for a short body. */
export function compressed(response: StoredResponse): StoredResponse | Promise<StoredResponse> {
  const { headers, body } = response
  if (body === null || body.length <= minLength || headers['content-encoding'] !== undefined) return response
  return compress(body, { params }).then((smaller) =>
    smaller.byteLength < body.length ? { ...response, headers: { ...headers, [codingField]: 'br' }, body: smaller } : response
  )
}

/** Returns the response as it was before {@link compressed}. */
export function decompressed(response: StoredResponse): StoredResponse | Promise<StoredResponse> {
  const { [codingField]: coding, ...headers } = response.headers
  if (coding === undefined || response.body === null) return response
  return decompress(response.body, { maxOutputLength: maxBodyBytes }).then((body) => ({ ...response, headers, body }))
}
