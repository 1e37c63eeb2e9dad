// The links of errors before, or without, a host that the service allows: on each way that an error can take.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const lines = (...head: string[]) => `${head.join('\r\n')}\r\nConnection: close\r\n\r\n`
const proxied = 'X-Forwarded-Proto: https'

// What a client sends, and the code of the error.
const requests: Readonly<Record<string, readonly [head: string, code: string]>> = {
  'another host': [lines('GET /v1/things/1 HTTP/1.1', 'Host: other.example', proxied), 'MISDIRECTED_REQUEST'],
  'the address of the process as the host': [lines('GET /v1/things/1 HTTP/1.1', 'Host: 127.0.0.1:PORT', proxied), 'MISDIRECTED_REQUEST'],
  'another host over plain HTTP': [lines('GET /v1/things/1 HTTP/1.1', 'Host: other.example'), 'MISDIRECTED_REQUEST'],
  'another host in the target': [
    lines('GET http://other.example/v1/things/1 HTTP/1.1', 'Host: a.example.com', proxied),
    'MISDIRECTED_REQUEST'
  ],
  'another host and an unknown path': [lines('GET /v1/none HTTP/1.1', 'Host: other.example', proxied), 'MISDIRECTED_REQUEST'],
  'no host': [lines('GET /v1/things/1 HTTP/1.1', proxied), 'MISSING_HOST'],
  'an invalid host': [lines('GET /v1/things/1 HTTP/1.1', 'Host: a b', proxied), 'INVALID_HOST'],
  'HTTP/1.0 without a host': [lines('GET /v1/none HTTP/1.0', proxied), 'MISDIRECTED_REQUEST'],
  'a target that cannot be decoded': [lines('GET /v1/things/%zz HTTP/1.1', 'Host: other.example', proxied), 'MALFORMED_URI'],
  'an unknown version of HTTP': [lines('GET /v1/things/1 HTTP/9.9', 'Host: other.example'), 'HTTP_VERSION_NOT_SUPPORTED'],
  'an unknown method': [lines('FROB /v1/things/1 HTTP/1.1', 'Host: other.example'), 'METHOD_NOT_IMPLEMENTED'],
  CONNECT: [lines('CONNECT other.example:443 HTTP/1.1', 'Host: other.example'), 'METHOD_NOT_IMPLEMENTED'],
  'an unknown expectation': [lines('GET /v1/things/1 HTTP/1.1', 'Host: other.example', 'Expect: nothing'), 'EXPECTATION_FAILED'],
  'a header that is not one': [lines('GET /v1/things/1 HTTP/1.1', 'Host: other.example', 'no colon'), 'MALFORMED_REQUEST'],
  'headers that are too large': [
    lines('GET /v1/things/1 HTTP/1.1', 'Host: other.example', `A: ${'a'.repeat(20_000)}`),
    'HEADERS_TOO_LARGE'
  ],
  'bytes that are not HTTP': ['\x16\x03\x01\x02\x00\r\n\r\n', 'MALFORMED_REQUEST']
}

const settings: Readonly<Record<string, readonly [options: object, link: RegExp]>> = {
  'with publicUrl': [{ publicUrl: 'https://api.example.com', allowedHosts: ['a.example.com'] }, /^https:\/\/api\.example\.com\//],
  'with hosts': [{ allowedHosts: ['*.example.com', 'a.example.com'] }, /^https?:\/\/a\.example\.com\//],
  'with wildcards only': [{ allowedHosts: ['*.example.com'] }, /^(?:https:\/\/a\.example\.com)?\//]
}

async function start(t: Test, options: object) {
  const app = Fastify(serverOptions({ trustProxy: ['127.0.0.1'] }))
  t.teardown(() => app.close())
  await app.register(conventions, { versions: { 1: {} }, authentication: false, ...options })
  await app.apiVersion(1, async (v1) => {
    v1.get('/things/:id', { schema: { response: { 200: { type: 'object', properties: {} } } } }, async () => ({}))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  async function send(head: string) {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => (text += data))
    socket.end(head.replaceAll('PORT', String(port)))
    await once(socket, 'close')
    return { text, body: JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) }
  }
  return { send, port }
}

for (const [name, [options, link]] of Object.entries(settings))
  t.test(`${name}, the link of an error never has the address of the process [G1]`, async (t) => {
    const { send, port } = await start(t, options)
    for (const [what, [head, code]] of Object.entries(requests)) {
      const { text, body } = await send(head)
      t.equal(body.error?.code, code, what)
      t.match(body._links?.[0]?.href, link, what)
      t.notMatch(text, new RegExp(`127\\.0\\.0\\.1|localhost|${port}`), what)
    }
  })

t.test('without hosts, errors of requests without a valid host have relative links', async (t) => {
  const { send, port } = await start(t, {})
  for (const [what, [head, code]] of Object.entries(requests)) {
    const { text, body } = await send(head)
    if (code === 'MISDIRECTED_REQUEST') continue
    const isHostKnown = /^(?:MALFORMED_URI|METHOD_NOT|EXPECTATION)/.test(code)
    t.equal(body.error?.code, code, what)
    if (!isHostKnown) t.match(body._links?.[0]?.href, /^\//, what)
    if (!isHostKnown) t.notOk(text.includes(String(port)), what)
  }
})
