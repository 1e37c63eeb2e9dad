import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

// The best quality of Brotli saves a seventh more, and takes thirty times as long.
const brotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 6 } }
const compressors = {
  br: (text: string) => promisify(zlib.brotliCompress)(text, brotli),
  gzip: (text: string) => promisify(zlib.gzip)(text)
}

type Coding = keyof typeof compressors

// Below a kilobyte, the uncompressed text fits into one packet.
const threshold = 1024

/**
 * Returns a function that sends a rarely changing text in the content coding that the client prefers. Each coding is computed once for
 * each text: anybody may request these texts, and to compress one takes up to half a second of processor time.
 */
export function textSender(mediaType: string): (request: FastifyRequest, reply: FastifyReply, text: string) => Promise<FastifyReply> {
  const compressed = new Map<Coding, { readonly text: string; readonly bytes: Promise<Buffer> }>()

  return async (request, reply, text) => {
    reply.type(`${mediaType}; charset=utf-8`)
    if (text.length < threshold) return reply.send(text)
    reply.header('vary', ['Accept-Encoding', reply.getHeader('vary') ?? []].flat().join(', '))
    const coding = negotiate<Coding | 'identity'>(request.headers['accept-encoding']?.toLowerCase() ?? '', ['br', 'gzip', 'identity'])
    if (coding === null || coding === 'identity') return reply.send(text)
    let known = compressed.get(coding)
    if (known?.text !== text) {
      known = { text, bytes: compressors[coding](text) }
      compressed.set(coding, known)
    }
    return reply.header('content-encoding', coding).send(await known.bytes)
  }
}
