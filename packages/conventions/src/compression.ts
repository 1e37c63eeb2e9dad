import type { FastifyCompressOptions } from '@fastify/compress'

/** The options that the preset sets for `@fastify/compress` (rule N7). */
export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip', 'identity'],
  // Below a kilobyte, the uncompressed response fits into one packet.
  threshold: 1024,
  // Only text: images, archives and unknown binary formats are mostly compressed already.
  customTypes: /^text\/(?!event-stream)|[+/](?:json|text|xml)(?:;|$)/u,
  // A body that is small on the wire and large in memory is refused unless a service enables decompression.
  globalDecompression: false
}
