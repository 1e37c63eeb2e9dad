import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { canary } from './check-response.ts'
import { addRoute, aThing, innerError } from './things.ts'

type Odd = (reply: FastifyReply, request: FastifyRequest) => unknown

const circle: { self?: unknown; inner: string } = { inner: canary }
circle.self = circle

const failingStream = (afterBytes: boolean) =>
  new Readable({
    read() {
      if (afterBytes && !this.readableDidRead) this.push('{"first":"bytes"')
      else setImmediate(() => this.destroy(innerError()))
    }
  })

/** Payloads that cannot be sent, or not with status 200; each is an error of the service. */
export const badPayloads: Readonly<Record<string, Odd>> = {
  circular: () => circle,
  'member-throws': () => ({
    id: {
      toString: () => {
        throw innerError()
      }
    }
  }),
  'to-json-throws': () => ({
    get id() {
      throw innerError()
    }
  }),
  symbol: (reply) => reply.send(Symbol(canary)),
  'missing-required': () => ({ inner: canary }),
  'wrong-type': () => ({ id: 'one', size: { inner: canary } }),
  'array-for-object': () => [canary],
  string: () => canary,
  'empty-string': () => '',
  number: () => 42,
  true: () => true,
  null: () => null,
  undefined: async () => undefined,
  'sent-undefined': (reply) => reply.send(),
  'undeclared-201': (reply) => reply.code(201).send({ ...aThing, inner: canary }),
  'undeclared-299': (reply) => reply.code(299).send({ inner: canary }),
  'status-700': (reply) => reply.code(700).send({ inner: canary }),
  'status-99': (reply) => reply.code(99).send({ inner: canary }),
  'status-word': (reply) => reply.code('abc' as unknown as 200).send({ inner: canary }),
  'status-nan': (reply) => reply.code(Number.NaN).send({ inner: canary }),
  'header-cr-lf': (reply) => reply.header('x-inner', `a\r\nx-injected: ${canary}`).send(aThing),
  'header-name': (reply) => reply.header(`bad name ${canary}`, '1').send(aThing),
  'header-non-latin': (reply) => reply.header('x-inner', `${canary} →`).send(aThing),
  'header-nul': (reply) => reply.header('x-inner', `${canary}\u0000`).send(aThing),
  'redirect-nul': (reply) => reply.redirect(`/\u0000${canary}`),
  'redirect-cr-lf': (reply) => reply.redirect(`/a\r\nx-injected: ${canary}`),
  'serializer-throws': (reply) =>
    reply
      .serializer(() => {
        throw innerError()
      })
      .send(aThing),
  'serializer-number': (reply) => reply.serializer(() => 42 as never).send(aThing),
  'stream-fails-at-once': (reply) => reply.type('application/json').send(failingStream(false)),
  'stream-destroyed': (reply) => {
    const stream = Readable.from([canary])
    stream.destroy(innerError())
    return reply.send(stream)
  },
  // A stream is refused on an enveloped route; a later failure of the stream must have no effect.
  'refused-and-failing': () => failingStream(false),
  'refused-and-destroyed': () => Readable.from([canary]).destroy(innerError()),
  'web-stream-fails-at-once': (reply) => reply.send(new ReadableStream({ start: (controller) => controller.error(innerError()) })),
  'response-fails-at-once': (reply) =>
    reply.send(new Response(new ReadableStream({ start: (controller) => controller.error(innerError()) }))),
  'response-locked': (reply) => {
    const response = new Response(canary)
    response.body?.getReader()
    return reply.send(response)
  },
  'trailer-content-length': (reply) => reply.trailer('content-length', (_reply, _payload, done) => done(null, canary)).send(aThing),
  'format-unknown': (reply) => (reply as FastifyReply & { nothing(): unknown }).nothing()
}

/** Errors that the handler formats itself, with the status that it set. */
export const ownErrors: Readonly<Record<string, readonly [status: number, odd: Odd]>> = {
  object: [404, (reply) => reply.code(404).send({ error: canary })],
  'object-like-an-envelope': [404, (reply) => reply.code(404).send({ error: { status: 404, message: canary }, _links: [], _meta: {} })],
  returned: [409, (reply) => (reply.code(409), { reason: canary })],
  string: [404, (reply) => reply.code(404).send(canary)],
  html: [500, (reply) => reply.code(500).type('text/html').send(`<h1>${canary}</h1>`)],
  nothing: [400, (reply) => reply.code(400).send()],
  null: [503, (reply) => reply.code(503).send(null)],
  buffer: [422, (reply) => reply.code(422).send(Buffer.from(canary))],
  stream: [500, (reply) => reply.code(500).send(Readable.from([canary]))],
  'web-stream': [502, (reply) => reply.code(502).send(new Blob([canary]).stream())],
  response: [500, (reply) => reply.send(new Response(canary, { status: 500 }))],
  'response-404': [404, (reply) => reply.send(new Response(canary, { status: 404, headers: { 'x-inner': canary, etag: '"a"' } }))],
  'failing-stream': [500, (reply) => reply.code(500).send(failingStream(false))],
  unauthorized: [401, (reply) => reply.code(401).send({ inner: canary })],
  teapot: [418, (reply) => reply.code(418).send({ inner: canary })],
  'unassigned-499': [499, (reply) => reply.code(499).send({ inner: canary })],
  'cached-and-tagged': [
    410,
    (reply) => reply.code(410).headers({ 'cache-control': 'public', etag: '"a"', 'content-disposition': 'inline' }).send({ inner: canary })
  ],
  'wrong-length': [500, (reply) => reply.code(500).header('content-length', '3').send(canary)],
  'said-to-be-gzip': [500, (reply) => reply.code(500).header('content-encoding', 'gzip').send(Buffer.from(canary))]
}

/** Adds the routes below `/payloads` and `/own-errors`, and handlers that reply never or too late. */
export function addOddReplies(app: FastifyInstance): void {
  // A body that is not JSON is sent without the envelope, which a service must declare too.
  const bare = { config: { envelope: false } } as RouteShorthandOptions
  for (const [name, odd] of Object.entries(badPayloads)) {
    addRoute(app, `/payloads/${name}`, (request, reply) => odd(reply, request), /stream|response/.test(name) ? bare : {})
  }
  for (const [name, [, odd]] of Object.entries(ownErrors)) addRoute(app, `/own-errors/${name}`, (request, reply) => odd(reply, request))

  const short = { handlerTimeout: 150 } as RouteShorthandOptions
  addRoute(app, '/never/sync', () => {}, short)
  addRoute(app, '/never/async', () => new Promise(() => {}), short)
  addRoute(app, '/late/sends', (_request, reply) => void reply.raw.once('finish', () => reply.send({ id: canary })), short)
  addRoute(
    app,
    '/late/rejects',
    (_request, reply) => new Promise((_resolve, reject) => reply.raw.once('finish', () => reject(innerError()))),
    short
  )

  for (const key of ['404', '4xx', '5xx', 'default']) {
    const schema = {
      response: { 200: { type: 'object' }, [key]: { type: 'object', properties: { oddity: { type: 'integer' } }, required: ['oddity'] } }
    }
    addRoute(
      app,
      `/schemas/${key}`,
      (_request, reply) => Promise.reject(innerError({ statusCode: key === '5xx' ? 500 : 404, reply: typeof reply })),
      { schema, config: { envelope: false } }
    )
  }

  // Cannot be corrected: bytes of another response are already sent, or the handler hijacked the reply.
  addRoute(app, '/streams/after-first-byte', (_request, reply) => reply.type('application/json').send(failingStream(true)), bare)
  addRoute(
    app,
    '/streams/stalled',
    (_request, reply) =>
      reply.type('application/json').send(
        new Readable({
          read() {
            if (!this.readableDidRead) this.push('{')
          }
        })
      ),
    { ...short, ...bare }
  )
  addRoute(app, '/raw/write-then-throw', async (_request, reply) => {
    reply.raw.writeHead(200, { 'content-type': 'text/plain' })
    await new Promise((resolve) => reply.raw.write('first bytes', resolve))
    throw innerError()
  })
  addRoute(app, '/floating/rejection', () => {
    void Promise.reject(innerError())
    return aThing
  })
  addRoute(app, '/raw/end', (_request, reply) => void reply.raw.writeHead(500).end('raw'))
  addRoute(app, '/raw/destroy', (_request, reply) => void reply.raw.destroy())
  addRoute(app, '/raw/hijack-and-write', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(500, { 'content-type': 'text/plain' })
    reply.raw.end('hijacked')
  })
  addRoute(app, '/raw/hijack-and-throw', (_request, reply) => {
    reply.hijack()
    throw innerError()
  })
}
