import type { BrotliOptions, ZlibOptions } from 'node:zlib'
import { peerFault, requirePeers } from '@concordat/plugin-kit/options'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** Options of `@fastify/compress`, which documents more of them. */
export interface CompressionOptions {
  readonly encodings?: readonly ('br' | 'deflate' | 'gzip' | 'identity' | 'zstd')[] | undefined
  /** In bytes. A smaller response is not compressed. */
  readonly threshold?: number | undefined
  /** The media types that are compressed. */
  readonly customTypes?: RegExp | ((contentType: string) => boolean) | undefined
  readonly brotliOptions?: BrotliOptions | undefined
  readonly zlibOptions?: ZlibOptions | undefined
  readonly [option: string]: unknown
}

const peer = '@fastify/compress@9.2'

/** The options that the preset sets (rule N7). */
const defaults: CompressionOptions = {
  encodings: ['br', 'gzip', 'identity'],
  // Below a kilobyte, the uncompressed response fits into one packet.
  threshold: 1024,
  // Only text: images, archives and unknown binary formats are mostly compressed already.
  customTypes: /^text\/(?!event-stream)|[+/](?:json|text|xml)(?:;|$)/u,
  // A body that is small on the wire and large in memory is refused unless a service enables decompression.
  globalDecompression: false
}

/**
 * Registers `@fastify/compress`. Without that package, logs a warning where compression is on by default. Throws a `TypeError` of one line where
 * its options are set.
 */
export async function addCompression(app: FastifyInstance, own: CompressionOptions | undefined): Promise<void> {
  if (own !== undefined) requirePeers('conventions: options.compression', [peer], import.meta)
  const fault = peerFault(peer, import.meta)
  if (fault !== undefined) {
    app.log.warn(
      `conventions: responses are not compressed. This requires ${fault}, or set options.compression to false where a proxy compresses them.`
    )
    return
  }
  const { default: compress } = await import('@fastify/compress')
  app.addHook('onRoute', leaveBinaryData)
  await app.register<object>(compress, { ...defaults, ...own })
}

// The package compresses what mime-db calls compressible, whatever `customTypes` says, and mime-db has this type since its version 1.53.
function leaveBinaryData(route: RouteOptions & { compress?: unknown }) {
  if (route.config?.produces?.includes('application/octet-stream')) route.compress ??= false
}
