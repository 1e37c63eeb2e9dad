import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { movedDate } from '@concordat/test-harness/moved-date'
import { newSecret, newSigningKeyPair, webhookSender } from '@concordat/webhooks'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { generate } from 'selfsigned'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { startNameServer } from './name-server.ts'
import { allowingLoopback, startRawReceiver, startReceiver } from './tls-receiver.ts'

type SenderOptions = NonNullable<Parameters<typeof webhookSender>[0]>

const secret = newSecret()
const body = JSON.stringify({ type: 'order.created', timestamp: '2026-01-02T03:04:05.678Z', data: { id: '7', note: 'Ñandú 🐦' } })
const message = { keys: [secret], id: 'msg_1', body }
// The timers of the time limits do not keep the process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

function senderOf(t: Test, options: SenderOptions = {}) {
  const sender = webhookSender({ ...allowingLoopback, ...options })
  t.teardown(async () => sender.close())
  return sender
}

t.test('sends the bytes, the headers of the specification and a valid signature [W2] [W3]', async (t) => {
  const { privateKey, publicKey } = newSigningKeyPair()
  const requests: { headers: Record<string, string>; method: string; url: string; text: string }[] = []
  const url = await startReceiver(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    requests.push({ headers: request.headers as Record<string, string>, method: String(request.method), url: String(request.url), text })
    response.writeHead(204).end()
  })
  const result = await senderOf(t, { userAgent: 'orders/1' }).send({ ...message, url: `${url}?team=7`, keys: [secret, privateKey] })
  t.match(result, { statusCode: 204, startedAt: Number, durationMilliseconds: Number })
  const [{ headers, method, url: path, text }] = requests as [(typeof requests)[0]]
  t.equal(text, body)
  t.strictSame([method, path], ['POST', '/hooks?team=7'])
  t.match(headers, { 'content-type': 'application/json', 'user-agent': 'orders/1', 'webhook-id': 'msg_1' })
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
  new Webhook(secret).verify(text, headers)
  verifyWebhook(headers, text, { keys: [publicKey] })
})

t.test('each attempt has its own timestamp and signature, and the same id and bytes [W3]', async (t) => {
  const clock = movedDate(t, 1_700_000_000_000)
  const seen: unknown[] = []
  const url = await startReceiver(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    seen.push([verifyWebhook(request.headers, text, { keys: [secret] }), text])
    response.writeHead(500).end()
  })
  const sender = senderOf(t)
  for (; clock.now < 1_700_000_003_000; clock.now += 1000)
    t.match(await sender.send({ ...message, url }), { statusCode: 500, startedAt: clock.now })
  t.strictSame(
    seen,
    [0, 1, 2].map((index) => [{ id: 'msg_1', sentAt: (1_700_000_000 + index) * 1000 }, body])
  )
})

t.test('reuses connections', async (t) => {
  const ports = new Set<number | undefined>()
  const url = await startReceiver(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end('a'.repeat(16_000))
  })
  const sender = senderOf(t)
  for (let count = 0; count < 20; count++) t.equal((await sender.send({ ...message, url })).statusCode, 200)
  t.ok(ports.size <= 2, `${ports.size} connections for 20 attempts`)
})

t.test('does not follow redirects', async (t) => {
  let followed = 0
  const target = await startReceiver(t, (_request, response) => response.end(String(followed++)))
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await startReceiver(t, (_request, response) => response.writeHead(status, { location: target }).end())
    const result = await senderOf(t).send({ ...message, url })
    t.equal(result.statusCode, status)
  }
  t.equal(followed, 0)
})

t.test('ignores proxy environment variables', async (t) => {
  let proxied = 0
  const proxy = createServer(() => (proxied += 1)).on('connect', (_request, socket) => {
    proxied += 1
    socket.destroy()
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  t.intercept(process, 'env', {
    value: { ...process.env, HTTPS_PROXY: address, https_proxy: address, ALL_PROXY: address, NODE_USE_ENV_PROXY: '1' }
  })
  const url = await startReceiver(t, (_request, response) => response.end())
  t.equal((await senderOf(t).send({ ...message, url })).statusCode, 200)
  t.equal(proxied, 0)
})

t.test('a misbehaving receiver costs one attempt within its time limit, and does not affect other receivers', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
  const flood = Buffer.alloc(65_536, 'a')
  const misbehaviours: Record<string, [(socket: TLSSocket) => unknown, object]> = {
    'sends nothing': [() => {}, { failure: 'TIMEOUT' }],
    'sends headers byte by byte': [drip, { failure: 'TIMEOUT' }],
    'sends interim responses forever': [
      (socket) => pour(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), socket),
      { failure: 'TIMEOUT' }
    ],
    'floods with headers': [
      (socket) => socket.write(head) && pour(() => socket.write(`x: ${'a'.repeat(9000)}\r\n`), socket),
      { failure: 'RESPONSE_INVALID' }
    ],
    'floods with a body': [(socket) => socket.write(`${head}\r\n`) && pour(() => socket.write(flood), socket), { statusCode: 200 }],
    'floods with a body of a stated length': [
      (socket) => socket.write(`${head}Content-Length: 99999999999\r\n\r\n`) && pour(() => socket.write(flood), socket),
      { statusCode: 200 }
    ],
    'hangs within its body': [(socket) => socket.write(`${head}Content-Length: 10\r\n\r\nabc`), { statusCode: 200 }],
    'sends less than its Content-Length': [(socket) => socket.end(`${head}Content-Length: 10\r\n\r\nabc`), { statusCode: 200 }],
    'sends more than its Content-Length': [(socket) => socket.end(`${head}Content-Length: 1\r\n\r\nabcdefgh`), { statusCode: 200 }],
    'cuts a chunk': [(socket) => socket.end(`${head}Transfer-Encoding: chunked\r\n\r\nffff\r\nabc`), { statusCode: 200 }],
    'states two lengths': [
      (socket) => socket.end(`${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
      { failure: 'RESPONSE_INVALID' }
    ],
    'resets after a request': [(socket) => socket.destroy(), { failure: 'CONNECTION_FAILED' }],
    'does not speak HTTP': [(socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'), { failure: 'RESPONSE_INVALID' }],
    'switches protocols': [
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
      { failure: 'CONNECTION_FAILED' }
    ],
    'responds with HTML': [(socket) => socket.end(`${head}Content-Length: 6\r\n\r\n<html>`), { statusCode: 200 }]
  }
  await Promise.all(
    Object.entries(misbehaviours).map(async ([title, [misbehave, expected]]) => {
      const url = await startRawReceiver(t, misbehave)
      const sender = senderOf(t, { attemptTimeoutSeconds: 3 })
      t.match(await sender.send({ ...message, url }), expected, title)
      const other = await startReceiver(t, (_request, response) => response.writeHead(204).end())
      t.equal((await sender.send({ ...message, url: other })).statusCode, 204, `${title}: other receivers are served`)
    })
  )
})

t.test('the signal aborts an attempt, and an already aborted signal sends nothing', async (t) => {
  const end = new AbortController()
  const requested: string[] = []
  const url = await startReceiver(t, ({ headers }) => {
    requested.push(String(headers['webhook-id']))
    end.abort()
  })
  const sender = senderOf(t)
  t.match(await sender.send({ ...message, url, id: 'msg_0' }, AbortSignal.abort()), { failure: 'TIMEOUT' })
  t.match(await sender.send({ ...message, url }, end.signal), { failure: 'TIMEOUT' })
  t.same(requested, ['msg_1'])
})

t.test('reads only a small part of an endless body', async (t) => {
  let written = 0
  const closed = Promise.withResolvers<void>()
  const url = await startRawReceiver(t, async (socket) => {
    socket.once('close', () => closed.resolve())
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    for (; !socket.destroyed; await setImmediate()) {
      if (socket.writableNeedDrain) continue
      socket.write(Buffer.alloc(16_384))
      written += 16_384
    }
  })
  t.equal((await senderOf(t).send({ ...message, url })).statusCode, 200)
  await closed.promise
  t.ok(written < 8_000_000, `${written} bytes were written`)
})

t.test('names the failure for a hung connection or handshake, a closed port and an untrusted certificate', async (t) => {
  const sockets: net.Socket[] = []
  const silent = net.createServer((socket) => void sockets.push(socket.on('error', () => {})))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const send = (url: string, options: SenderOptions = {}) => senderOf(t, options).send({ ...message, url })
  t.match(await send(`https://localhost:${port}/`, { attemptTimeoutSeconds: 0.1 }), { failure: 'TIMEOUT' })
  t.match(await send('https://localhost:1/'), { failure: 'CONNECTION_FAILED' })
  const url = await startReceiver(t, (_request, response) => response.end())
  t.match(await send(await startUntrusted(t)), { failure: 'TLS_FAILED' })
  t.match(await send(url.replace('localhost', 'other.localhost')), { failure: 'TLS_FAILED' })
  const plain = createServer((_request, response) => response.end())
  plain.listen(0, '127.0.0.1')
  await once(plain, 'listening')
  t.teardown(() => plain.close())
  t.match(await send(`https://localhost:${(plain.address() as AddressInfo).port}/`), { failure: 'TLS_FAILED' })
})

t.test('no environment variable makes it accept an untrusted certificate', async (t) => {
  t.intercept(process, 'env', { value: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
  t.match(await senderOf(t).send({ ...message, url: await startUntrusted(t) }), { failure: 'TLS_FAILED' })
})

t.test('accepts any certificate only from this machine, and only with any-certificate', async (t) => {
  const url = await startUntrusted(t)
  const { port } = new URL(url)
  const options: SenderOptions = { dangerouslyAllowLoopback: 'any-certificate', ports: [Number(port)] }
  t.match(await senderOf(t, options).send({ ...message, url }), { statusCode: 200 })
  t.match(await senderOf(t, options).send({ ...message, url: `https://127.0.0.1:${port}/` }), { statusCode: 200 })
  // A name that also resolves to another machine is not a name of this machine.
  await startNameServer(t, { 'hooks.example.com': ['127.0.0.1', '192.0.78.9'] })
  t.match(await senderOf(t, options).send({ ...message, url: `https://hooks.example.com:${port}/` }), { failure: 'TLS_FAILED' })
})

t.test('connects to IP addresses, and when autoSelectFamily is turned off', async (t) => {
  const url = await startReceiver(t, (_request, response) => response.end())
  t.equal((await senderOf(t).send({ ...message, url: url.replace('localhost', '127.0.0.1') })).statusCode, 200)
  const before = net.getDefaultAutoSelectFamily()
  net.setDefaultAutoSelectFamily(false)
  t.teardown(() => net.setDefaultAutoSelectFamily(before))
  t.equal((await senderOf(t).send({ ...message, url })).statusCode, 200)
})

t.test('reads both forms of Retry-After and ignores invalid values', async (t) => {
  movedDate(t, Date.parse('2026-01-02T03:04:05Z'))
  const fields: [string | string[], number | undefined][] = [
    ['120', 120],
    ['0', 0],
    ['Fri, 02 Jan 2026 03:05:05 GMT', 60],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Fri, 99 Jan 2026 03:05:05 GMT', undefined],
    ['99999999999', undefined],
    ['2026-01-02T03:05:05Z', undefined],
    [['1', '2'], undefined]
  ]
  for (const [field, expected] of fields) {
    const url = await startReceiver(t, (_request, response) => response.setHeader('retry-after', field).writeHead(503).end())
    t.equal((await senderOf(t).send({ ...message, url })).retryAfterSeconds, expected, String(field))
  }
})

t.test('rejects invalid options and keys with a one-line message', async (t) => {
  t.throws(
    () => webhookSender({ attemptTimeoutSeconds: 61 }),
    /^webhooks: options\.attemptTimeoutSeconds must be a number from 0\.001 to 60, but is 61\.$/
  )
  await t.rejects(senderOf(t).send({ ...message, url: 'https://example.com', keys: ['secret'] }), /a key is invalid/)
})

/** Starts a receiver whose certificate is not trusted. */
async function startUntrusted(t: Test) {
  const own = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  return startReceiver(t, (_request, response) => response.end(), { key: own.private, cert: own.cert })
}

function drip(socket: TLSSocket) {
  const timer = setInterval(() => socket.write('a'), 20)
  socket.write('HTTP/1.1 200 OK\r\nx: ')
  socket.once('close', () => clearInterval(timer))
}

function pour(write: () => boolean, socket: TLSSocket) {
  const more = () => {
    while (!socket.destroyed && write());
    if (!socket.destroyed) socket.once('drain', more)
  }
  more()
}
