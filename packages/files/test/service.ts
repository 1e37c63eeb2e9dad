import { request } from 'node:http'
import { Readable } from 'node:stream'
import files, { type FileStore, memoryFileStore, type UploadRules } from '@concordat/files'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Test } from 'tap'

export const boundary = 'a-boundary'
export const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** A store that counts the objects in it. */
export interface CountedStore extends FileStore {
  readonly ids: ReadonlySet<string>
}

/** Returns a store in memory that knows which objects it has, staged or permanent. */
function countedStore(): CountedStore {
  const store = memoryFileStore()
  const ids = new Set<string>()
  const without = (gone: readonly string[]) => gone.forEach((id) => ids.delete(id))
  const kept = new Set<string>()
  return {
    ...store,
    ids,
    async stage(id, bytes) {
      ids.add(id)
      await store.stage(id, bytes)
    },
    async keep(some) {
      await store.keep(some)
      for (const id of some) kept.add(id)
    },
    async discard(some) {
      await store.discard(some)
      without(some.filter((id) => !kept.has(id)))
    },
    async delete(some) {
      await store.delete(some)
      without(some)
    }
  }
}

/** Starts a service with a route for uploads, which responds with what it gets. */
export async function uploadService(
  t: Test,
  { upload, body, respond = whole }: { upload: UploadRules; body?: object; respond?: (request: FastifyRequest) => unknown }
): Promise<{ app: FastifyInstance; url: string; store: CountedStore }> {
  const app = Fastify()
  const store = countedStore()
  await app.register(files, { store })
  app.post('/photos', { config: { upload }, ...(body && { schema: { body } }) }, async (request) => respond(request as FastifyRequest))
  t.teardown(() => app.close())
  return { app, url: `${await app.listen({ port: 0, host: '127.0.0.1' })}/photos`, store }
}

function whole({ body, upload }: FastifyRequest) {
  return { body, upload }
}

/** Returns the text of a part. */
export function part(headers: string, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`--${boundary}\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
}

export function filePart(name: string, content: string | Buffer, { type = 'image/png', filename = 'a.png' } = {}): Buffer {
  return part(`Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: ${type}`, content)
}

export function fieldPart(name: string, value: string): Buffer {
  return part(`Content-Disposition: form-data; name="${name}"`, value)
}

export const end = Buffer.from(`--${boundary}--\r\n`)

/** Sends parts as they are, in chunks with a chunked coding or with their length. */
export async function sendRaw(
  url: string,
  chunks: readonly Buffer[] | (() => Iterable<Buffer> | AsyncIterable<Buffer>),
  { type = `multipart/form-data; boundary=${boundary}`, headers = {} }: { type?: string; headers?: Record<string, string> } = {}
): Promise<{ status: number; body: string; json: () => never; headers: Readonly<Record<string, unknown>>; sent: number }> {
  let sent = 0
  const isStream = typeof chunks === 'function'
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method: 'POST',
      headers: {
        ...(type !== '' && { 'content-type': type }),
        ...(!isStream && { 'content-length': Buffer.concat(chunks).length }),
        ...headers
      }
    })
    sending.on('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body, json: () => JSON.parse(body) as never, headers: response.headers, sent })
        sending.destroy()
      })
    })
    sending.on('error', reject)
    if (typeof chunks !== 'function') {
      sending.end(Buffer.concat(chunks))
      return
    }
    const counted = async function* () {
      for await (const chunk of chunks()) {
        sent += chunk.length
        yield chunk
      }
    }
    Readable.from(counted(), { objectMode: false })
      .on('error', () => {})
      .pipe(sending)
  })
}
