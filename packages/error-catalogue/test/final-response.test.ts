import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const secret = 'canary-8f3a'

async function listening(t: Test, register: (app: FastifyInstance) => unknown, before?: (app: FastifyInstance) => unknown) {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await before?.(app)
  await app.register(errorCatalogue)
  await register(app)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  return (app.server.address() as AddressInfo).port
}

/** Returns the bytes of the response to a request. The connection is closed after it. */
async function exchange(port: number, line: string, headers = ''): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(`${line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${headers}\r\n`)
  return (await socket.toArray()).join('')
}

function isWhole(t: Test, received: string, statusLine: string, code: string) {
  const [head = '', body = ''] = received.split('\r\n\r\n')
  t.equal(head.split('\r\n')[0], statusLine)
  t.match(JSON.parse(body), { error: { status: Number(statusLine.split(' ')[1]), code } })
  t.match(head.toLowerCase(), `content-length: ${Buffer.byteLength(body)}`)
  t.match(head.toLowerCase(), 'content-type: application/json; charset=utf-8')
  t.notOk(received.includes(secret), 'no internal details')
}

t.test('sends the error unchanged when an onSend hook always throws', async (t) => {
  const port = await listening(t, (app) => {
    app.addHook('onSend', async () => {
      throw new Error(secret)
    })
    app.get('/works', async () => ({ a: 1 }))
    app.get('/conflict', async () => {
      throw Object.assign(new Error(secret), { statusCode: 409 })
    })
  })
  isWhole(t, await exchange(port, 'GET /works'), 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
  isWhole(t, await exchange(port, 'GET /conflict'), 'HTTP/1.1 409 Conflict', 'CONFLICT')
  const head = await exchange(port, 'HEAD /works')
  t.match(head, /^HTTP\/1\.1 500 Internal Server Error\r\n/)
  t.equal(head.split('\r\n\r\n')[1], '', 'HEAD has no body')
})

t.test('responds with "500 Internal Server Error" and the other headers when Node.js rejects a header', async (t) => {
  const port = await listening(t, (app) => {
    app.get('/', (_request, reply) => reply.header('x-kept', 'yes').header('x-split', `a\r\nb: ${secret}`).send('fine'))
    app.get('/redirect', (_request, reply) => reply.redirect('/\0'))
    app.get('/stream', (_request, reply) => reply.header('x-split', 'a\r\nb').send(Readable.from(['a', 'b'])))
  })
  const received = await exchange(port, 'GET /')
  isWhole(t, received, 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
  t.match(received, /x-kept: yes/)
  isWhole(t, await exchange(port, 'GET /redirect'), 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
  isWhole(t, await exchange(port, 'GET /stream'), 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
})

const headOf = (received: string) => (received.split('\r\n\r\n')[0] as string).replace(/date: .*\r\n/i, '')

t.test('an error to HEAD has the same headers as to GET', async (t) => {
  const port = await listening(t, (app) => {
    app.get('/', async () => {
      throw Object.assign(new Error(secret), { statusCode: 409 })
    })
  })
  for (const url of ['/', '/nowhere']) {
    const head = await exchange(port, `HEAD ${url}`)
    t.equal(headOf(head), headOf(await exchange(port, `GET ${url}`)))
    t.equal(head.split('\r\n\r\n')[1], '')
  }
})

t.test('responds with 500 when a stream fails before its first byte, and cuts the response off when it fails later', async (t) => {
  const port = await listening(t, (app) => {
    app.get('/first', (_request, reply) =>
      reply.header('content-length', 100).send(
        new Readable({
          read() {
            this.destroy(new Error(secret))
          }
        })
      )
    )
    app.get('/later', (_request, reply) => {
      let count = 0
      return reply.send(
        new Readable({
          read() {
            if (count++ === 0) this.push('part')
            else setImmediate(() => this.destroy(new Error(secret)))
          }
        })
      )
    })
    app.get('/raw', async (_request, reply) => {
      reply.raw.writeHead(200)
      reply.raw.write('part')
      throw new Error(secret)
    })
  })
  isWhole(t, await exchange(port, 'GET /first'), 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
  for (const url of ['/later', '/raw']) {
    const received = await exchange(port, `GET ${url}`).catch((error: Error) => error.message)
    t.notMatch(received, /\r\n0\r\n\r\n$/, 'the response is not complete')
    t.notOk(received.includes(secret))
  }
  isWhole(t, await exchange(port, 'GET /nowhere'), 'HTTP/1.1 404 Not Found', 'RESOURCE_NOT_FOUND')
})

const later = (app: FastifyInstance) => {
  app.addHook('onSend', async (_request, reply, payload) => {
    if (reply.statusCode === 409) reply.code(200)
    return payload
  })
  app.addHook('onSend', async (request, reply, payload) =>
    request.url === '/other' && reply.statusCode === 200 ? '{"fine":true}' : payload
  )
}

const conflictRoutes = (app: FastifyInstance) => {
  for (const url of ['/', '/other', '/own']) {
    app.get(url, async () => {
      throw Object.assign(new Error(secret), { statusCode: 409 })
    })
  }
}

t.test('a later hook cannot change an error to a success [X2]', async (t) => {
  const hookedAfter = await listening(t, (app) => {
    later(app)
    conflictRoutes(app)
  })
  const hookedBefore = await listening(t, conflictRoutes, later)
  for (const port of [hookedAfter, hookedBefore]) {
    isWhole(t, await exchange(port, 'GET /'), 'HTTP/1.1 409 Conflict', 'CONFLICT')
    isWhole(t, await exchange(port, 'GET /other'), 'HTTP/1.1 409 Conflict', 'CONFLICT')
  }
})

t.test('sends the error of the status code when a later hook sets another error status code', async (t) => {
  const port = await listening(t, (app) => {
    app.addHook('onSend', async (_request, reply, payload) => {
      reply.code(503).header('x-maintenance', 'yes')
      return payload
    })
  })
  const received = await exchange(port, 'GET /nowhere')
  isWhole(t, received, 'HTTP/1.1 503 Service Unavailable', 'SERVICE_UNAVAILABLE')
  t.match(received, /retry-after: 5/)
  t.match(received, /x-maintenance: yes/)
})

t.test('does not send the body of a later hook', async (t) => {
  const port = await listening(t, (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('content-type', 'text/plain')
      return secret
    })
  })
  isWhole(t, await exchange(port, 'GET /nowhere'), 'HTTP/1.1 404 Not Found', 'RESOURCE_NOT_FOUND')
})

t.test('sends an error without the trailers that the handler added before it threw', async (t) => {
  const port = await listening(t, (app) => {
    app.get('/', async (_request, reply) => {
      reply.trailer('x-sum', async () => 'sum')
      throw Object.assign(new Error(secret), { statusCode: 409 })
    })
  })
  const received = await exchange(port, 'GET /')
  isWhole(t, received, 'HTTP/1.1 409 Conflict', 'CONFLICT')
  t.notMatch(received, /transfer-encoding|trailer/i)
})

const errorRoutes = (app: FastifyInstance) => {
  app.get('/thrown', async () => {
    throw Object.assign(new Error(secret), { statusCode: 409 })
  })
  app.get('/sent', (_request, reply) => reply.code(410).send({ secret, long: 'x'.repeat(2000) }))
  app.get('/split', (_request, reply) => reply.header('x-split', 'a\r\nb').send({ a: 1 }))
  app.get('/big', (_request, reply) => reply.header('x-split', 'a\r\nb').send({ a: 'x'.repeat(2000) }))
}

const zip = (app: FastifyInstance) => app.register(compress, { threshold: 1 })

t.test('compresses errors like other responses, in any order of the plugins', async (t) => {
  const after = await listening(t, async (app) => {
    await zip(app)
    errorRoutes(app)
  })
  const before = await listening(t, errorRoutes, zip)
  for (const port of [after, before]) {
    for (const [path, status, code] of [
      ['thrown', 409, 'CONFLICT'],
      ['sent', 410, 'GONE'],
      ['split', 500, 'INTERNAL_ERROR'],
      ['big', 500, 'INTERNAL_ERROR']
    ] as const) {
      for (const coding of ['gzip', 'identity']) {
        const response = await fetch(`http://127.0.0.1:${port}/${path}`, { headers: { 'accept-encoding': coding } })
        t.equal(response.status, status, `${path} ${coding}`)
        t.equal(response.statusText, { 409: 'Conflict', 410: 'Gone', 500: 'Internal Server Error' }[status])
        t.match(await response.json(), { error: { status, code } })
      }
    }
  }
  const coded = await fetch(`http://127.0.0.1:${after}/thrown`, { headers: { 'accept-encoding': 'gzip' } })
  t.equal(coded.headers.get('content-encoding'), 'gzip')
  await coded.arrayBuffer()
})

t.test('sends a readable error when every hook fails after content-encoding was set', async (t) => {
  const port = await listening(t, (app) => {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('content-encoding', 'gzip')
      throw new Error(secret)
    })
    app.get('/', async () => ({ a: 1 }))
  })
  const received = await exchange(port, 'GET /')
  isWhole(t, received, 'HTTP/1.1 500 Internal Server Error', 'INTERNAL_ERROR')
  t.notMatch(received, /content-encoding/)
})

const digits = (from: number) => Array.from({ length: 120 }, (_, index) => `${(from + index) * 7919}`.padEnd(14, String(index))).join(' ')

t.test('sends bytes that a later hook encoded, over HTTP/1 and HTTP/2 and in any length', async (t) => {
  const errors = Array.from({ length: 100 }, (_, index) => ({
    field: `body.${index}`,
    key: 'digits',
    params: {},
    message: digits(index * 120)
  }))
  const long = new ApiError(409, 'LONG', 'It is long.', { errors })
  const register = (app: FastifyInstance) => {
    app.addHook('onSend', async (request, reply, payload) => {
      if (request.headers['x-code'] === undefined) return payload
      reply.header('content-encoding', 'x-gzip')
      if (request.headers['x-code'] === 'split') reply.header('x-split', 'a\r\nb')
      return gzipSync(payload as string, { level: 0 })
    })
    app.get('/', async () => {
      throw long
    })
    app.get('/trailer', async (_request, reply) => {
      reply.trailer('x-sum', async () => 'sum')
      throw long
    })
  }
  const port = await listening(t, register)
  for (const [path, code] of [
    ['/', 'yes'],
    ['/', 'split']
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-code': code } })
    t.match([response.status, response.statusText, response.headers.get('content-encoding')], [409, 'Conflict', 'x-gzip'])
    t.equal(((await response.json()) as { error: { code: string } }).error.code, 'LONG')
  }
  t.match(await exchange(port, 'GET /trailer', 'x-code: yes\r\n'), /^HTTP\/1\.1 409 Conflict\r\n/)

  const app = Fastify({ ...errorCatalogueServerOptions(), http2: true })
  await app.register(errorCatalogue)
  register(app as unknown as FastifyInstance)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const session = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => session.close())
  for (const headers of [{}, { 'x-code': 'yes' }]) {
    const stream = session.request({ ':path': '/', ...headers })
    const received = new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
    const body = Buffer.concat(await stream.toArray())
    t.match(await received, { ':status': 409, 'cache-control': 'no-store' })
    t.ok(body.length > 65_536, 'longer than what HTTP/2 sends in a single write')
    if (!('x-code' in headers)) t.match(JSON.parse(body.toString()), { error: { code: 'LONG' } })
  }
})

t.test('what Fastify sends for an unknown path is never serialized, and a not-found handler of the service decides', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  t.teardown(() => app.close())
  const serialized: unknown[] = []
  await app.register(errorCatalogue)
  app.addHook('preSerialization', async (_request, _reply, payload) => {
    serialized.push(payload)
    return payload
  })
  app.get('/books/:id', async (_request, reply) => reply.callNotFound())
  await app.register(
    async (child) => {
      child.setNotFoundHandler((request, reply) => {
        const isShown = request.url.endsWith('shown')
        void reply.code(isShown ? 200 : 404).send({ shown: isShown })
      })
    },
    { prefix: '/pages' }
  )
  for (const path of ['/nothing', '/books/1', '/pages/hidden']) {
    const response = await app.inject(path)
    t.match(response.json(), { error: { status: 404, code: 'RESOURCE_NOT_FOUND' }, _links: [{ rel: 'self', method: 'GET' }] })
    t.equal(response.statusCode, 404)
    t.strictSame(serialized.splice(0), [response.body])
  }
  t.strictSame((await app.inject('/pages/shown')).json(), { shown: true })
  t.strictSame(serialized, [{ shown: true }])
})

t.test('the error of an invalid request has no stack trace, and the text that Fastify gives it', async (t) => {
  const messageOf = async (options: object) => {
    const app = Fastify(options)
    t.teardown(() => app.close())
    app.setErrorHandler(({ message, stack }: Error, _request, reply) =>
      reply.code(400).send({ message, frames: stack?.split('\n    at ').length })
    )
    const body = {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string' }, size: { type: 'object', properties: { width: { type: 'integer' } } } }
    }
    app.post('/', { schema: { body } }, async () => 'never')
    return [{}, { title: 'a', size: { width: 'wide' } }].reduce<Promise<{ message: string; frames: number }[]>>(
      async (found, payload) => [...(await found), (await app.inject({ method: 'POST', url: '/', payload })).json()],
      Promise.resolve([])
    )
  }
  const stock = await messageOf({})
  const own = await messageOf(errorCatalogueServerOptions())
  t.strictSame(
    own,
    stock.map(({ message }) => ({ message, frames: 1 }))
  )
})
