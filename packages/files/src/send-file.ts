import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply } from 'fastify'
import { rangeNotSatisfiable } from './errors.ts'
import { cleanFileName } from './file-name.ts'
import { type SentFileOptions, sentFileOptions } from './options.ts'
import { rangeOf } from './ranges.ts'
import type { FileStore } from './store.ts'
import type { StoredFile } from './upload.ts'

// Browsers run the scripts in them, with the origin of the service.
const active = /^text\/html|[/+]xml$|^text\/javascript/i

/** Sends a file, or the range of it that the request asks for (RFC 9110 §14, RFC 6266). */
export function sendFile(reply: FastifyReply, store: FileStore, file: StoredFile, options: SentFileOptions = {}): FastifyReply {
  const { name = file.name, inline } = sentFileOptions.read(options, 'reply.file')
  const { size, type } = file
  const tag = `"${file.digest}"`
  const range = requestedRange(reply, tag, size)
  if (range === 'unsatisfiable') throw rangeNotSatisfiable(size)
  const isInline = inline && !active.test(type)
  reply.headers({
    'content-type': type,
    'content-disposition': dispositionOf(isInline ? 'inline' : 'attachment', cleanFileName(name)),
    'content-length': range === undefined ? size : range.end - range.start + 1,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    etag: tag
  })
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${size}`)
  return reply.send(Readable.from(store.read(file.id, range), { objectMode: false }))
}

function requestedRange({ request }: FastifyReply, tag: string, size: number) {
  const { range, 'if-range': condition, 'if-none-match': known } = request.headers
  // Whether the client has the file already comes before its range (RFC 9110 §13.2.2), and a server may ignore that.
  if (range === undefined || known !== undefined || request.method !== 'GET') return undefined
  // A date, or a weak tag, never names these bytes.
  if (condition !== undefined && condition !== tag) return undefined
  return rangeOf(range, size)
}

function dispositionOf(type: 'inline' | 'attachment', name: string | undefined) {
  if (name === undefined) return type
  const fallback = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/g, '_')
  return contentDisposition(name, { type, fallback })
}
