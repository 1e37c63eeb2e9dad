import { Readable } from 'node:stream'
import type { FastifyRequest, RequestPayload } from 'fastify'

const bytesPerRequest = 16_384
// Most of a larger body is a file, which costs less than values that are parsed. Its route can have a cost of its own.
const maxMore = 32

/** The sentence about bodies in the description of an operation. */
export const bodyCostNote = `Each further ${bytesPerRequest} bytes of a body, also if not complete, count as another request, at most ${maxMore}.`

/** Returns how many requests more a body of this size counts as. */
function moreFor(bytes: number): number {
  return Math.min(maxMore, Math.max(0, Math.ceil(bytes / bytesPerRequest) - 1))
}

/** Returns whether a request has a body, which may be empty. */
export function hasBody(request: FastifyRequest): boolean {
  return request.headers['content-length'] !== undefined || moreForBody(request) === undefined
}

/** Returns how many requests more the body of a request counts as; undefined while its size is unknown. */
export function moreForBody({ headers, raw }: FastifyRequest): number | undefined {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  // A length that is not a number is refused when the body is read.
  if (length !== undefined) return moreFor(Number(length) || 0)
  const { stream } = raw as { readonly stream?: { readonly endAfterHeaders: boolean } }
  return coding === undefined && stream?.endAfterHeaders !== false ? 0 : undefined
}

/** Returns a body of unknown size that calls `charge` for each request more that it counts as, before the bytes are read. It is read only on demand. */
export function chargedBody(body: RequestPayload, charge: () => Promise<void> | undefined): RequestPayload {
  return Readable.from(charged(), { objectMode: false })

  async function* charged() {
    let bytes = 0
    let paid = 0
    // Without this option, a refusal would close the connection before its response.
    for await (const chunk of (body as Readable).iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length
      for (const due = moreFor(bytes); paid < due; paid += 1) await charge()
      yield chunk
    }
  }
}
