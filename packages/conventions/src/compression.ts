import type { FastifyCompressOptions } from '@fastify/compress'

/** What the preset tells `@fastify/compress` (rule N7). */
export const compression: FastifyCompressOptions = {
  encodings: ['br', 'gzip', 'identity'],
  // Below a kilobyte the answer fits into one packet as it is.
  threshold: 1024,
  // Text alone: images, archives and bytes of unknown kind are mostly compressed already.
  customTypes: /^text\/(?!event-stream)|[+/](?:json|text|xml)(?:;|$)/u,
  // A body that is small on the wire and large in memory is not let in unless a service asks for it.
  globalDecompression: false
}
