import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { until } from '@concordat/test-harness/until'
import { describedFetch } from '@concordat/testing'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/open-database.ts'
import { settings } from '../../src/settings.ts'
import { type Child, signIn, startChild } from './child.ts'
import { emptyDatabase, environmentOf, freshDatabase, freshFolder } from './fresh-database.ts'
import { sendBytes } from './raw-http.ts'

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const ignore = () => {}
const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }

/** Of all processes that tests start, only these count for the coverage. */
function start(t: Test, env: Readonly<Record<string, string>>): Child {
  return startChild(t, env, process.env)
}

async function refusesConnections(address: string) {
  const { hostname, port } = new URL(address)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const refused = await new Promise((resolve) => socket.once('connect', () => resolve(false)).once('error', () => resolve(true)))
    socket.destroy()
    if (refused) return
  }
}

t.test('SIGTERM: no new connections, requests in flight get their responses, exit code 0; the next start has the same data', async (t) => {
  const environment = environmentOf(await freshDatabase(t))
  const first = start(t, environment)
  const address = await first.address
  const { hostname, port } = new URL(address)
  const headers = await signIn(address)
  const customer = JSON.stringify({ companyName: 'Last', contactName: 'Minute', email: 'last@minute.example', country: 'Malta' })

  // The first half of a request has arrived when the signal arrives. The second half follows only after the listener is closed.
  const socket = connect(Number(port), hostname)
  const head = `POST /v1/customers HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: ${headers.authorization}\r\ncontent-type: application/json\r\ncontent-length: ${customer.length}\r\n\r\n`
  let response = ''
  socket.on('data', (data) => (response += data))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await new Promise((resolve) => socket.write(head + customer.slice(0, 10), resolve))
  t.equal((await fetch(`${address}/health/ready`)).status, 200, 'other requests are served in the meantime')
  first.process.kill('SIGTERM')
  await refusesConnections(address)
  socket.write(customer.slice(10))
  await closed
  t.match(response, /^HTTP\/1\.1 201 /)
  t.match(await first.ended, { code: 0, err: '' })

  const second = start(t, environment)
  const again = await second.address
  const created = /"id":"([^"]+)"/.exec(response)?.[1]
  t.equal(
    (await describedFetch(`${again}/v1/customers/${created}`, { headers })).status,
    200,
    'what was confirmed is stored, and the token is valid'
  )
  const { data } = (await (await describedFetch(`${again}/v1/orders`, { headers })).json()) as { data: unknown[] }
  t.equal(data.length, 20, 'the sample orders are not duplicated')
  second.process.kill('SIGINT')
  t.match(await second.ended, {
    code: 0,
    out: /^Orders service at http:\S+ – reference: http:\S+\/reference – try: curl -s \S+\/v2\/products – development: clients of a proxy on this machine .+\n$/
  })
})

t.test('SIGTERM: sign-ins in flight on the second address of localhost get their tokens', async (t) => {
  const twoAddresses = `--import=${import.meta.resolve('@concordat/test-harness/two-addresses')}`
  const child = startChild(t, { ...environmentOf(await freshDatabase(t)), HOST: 'localhost', NODE_OPTIONS: twoAddresses })
  const { port } = new URL(await child.address)
  const credentials = JSON.stringify({ username: 'ops@example.com', password: 'correct horse battery staple' })
  const head = `POST /v1/tokens HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${credentials.length}\r\n\r\n`
  const signIns = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const socket = connect(Number(port), '127.0.0.2')
      await new Promise((resolve) => socket.write(head + credentials.slice(0, 10), resolve))
      return socket
    })
  )
  const probe = connect(Number(port), '127.0.0.2')
  probe.write('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await once(probe, 'data')
  child.process.kill('SIGTERM')
  await refusesConnections(`http://127.0.0.1:${port}`)
  const responses = signIns.map((socket) => {
    socket.write(credentials.slice(10))
    return text(socket)
  })
  for (const response of await Promise.all(responses)) t.match(response, /^HTTP\/1\.1 200 [^]*"accessToken":/)
  t.match(await child.ended, { code: 0, err: '' })
})

t.test(
  'SIGTERM: a process is not ready, but serves until load balancers have noticed it; unused connections do not delay its stop',
  async (t) => {
    const child = startChild(t, { ...environmentOf(await freshDatabase(t)), DRAIN_SECONDS: '2' })
    const address = await child.address
    const { hostname, port } = new URL(address)
    const status = async (path: string) => (await describedFetch(address + path)).status
    t.equal(await status('/health/ready'), 200)
    const unused = connect(Number(port), hostname)
    const kept = connect(Number(port), hostname)
    t.teardown(() => [unused, kept].forEach((socket) => socket.destroy()))
    await Promise.all([once(unused, 'connect'), once(kept, 'connect')])
    kept.write(`GET /v1/products HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
    await once(kept, 'data')
    const closed = Promise.all([once(unused, 'close'), once(kept, 'close')])
    child.process.kill('SIGTERM')
    await until(async () => (await status('/health/ready')) === 503)
    t.equal(await status('/v1/products'), 200)
    t.equal(await status('/health/live'), 200)
    t.equal(await status('/health/ready'), 503)
    t.match(await child.ended, { code: 0, err: '' })
    await closed
  }
)

t.test('after a kill without warning, the next start has all data that was confirmed', async (t) => {
  const environment = environmentOf(await freshFolder(t))
  const first = startChild(t, environment)
  const authorization = await signIn(await first.address)
  const created = await describedFetch(`${await first.address}/v1/customers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization },
    body: JSON.stringify({ companyName: 'Sturdy', contactName: 'S', email: 's@sturdy.example', country: 'Malta' })
  })
  first.process.kill('SIGKILL')
  await first.ended
  const second = startChild(t, environment)
  const path = new URL(created.headers.get('location') as string).pathname
  t.equal((await describedFetch((await second.address) + path, { headers: authorization })).status, 200)
})

t.test(
  'in production only https from a trusted proxy for the public host is accepted; only health checks respond to any client [S4] [S10] [S11] [U11]',
  async (t) => {
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://shop.example', TRUST_PROXY: '127.0.0.1', ...secrets }
    const child = startChild(t, { ...environmentOf(await emptyDatabase(t)), ...production, LOG_LEVEL: 'info', DRAIN_SECONDS: '0' })
    const address = await child.address
    const status = async (path: string, headers: Record<string, string> = {}) => (await describedFetch(address + path, { headers })).status
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }
    t.equal(await status('/v1/products', forwarded), 200)
    t.equal(await status('/v1/products', { 'x-forwarded-host': 'shop.example' }), 403)
    t.equal(await status('/v1/products', { ...forwarded, 'x-forwarded-host': 'evil.example' }), 421)
    t.equal(await status('/v1/products'), 421)
    const https = 'X-Forwarded-Proto: https\r\nConnection: close\r\n\r\n'
    for (const target of ['/v1/products', 'http://evil.example/v1/products'])
      t.equal((await sendBytes(address, `GET ${target} HTTP/1.1\r\nHost:\r\n${https}`)).status, 400, 'an empty Host')
    t.equal((await sendBytes(address, `GET /v1/products HTTP/1.0\r\n${https}`)).status, 421, 'HTTP/1.0 without Host')
    t.equal(await status('/health/ready'), 200)
    t.equal(await status('/v1/orders', forwarded), 401)
    const demo = await describedFetch(`${address}/v1/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...forwarded },
      body: JSON.stringify({ username: 'ops@example.com', password: 'correct horse battery staple' })
    })
    t.equal(demo.status, 401, 'the demo users do not exist')

    const proxied = await describedFetch(`${address}/v1/products?perPage=5`, { headers: forwarded })
    t.match(proxied.headers.get('strict-transport-security'), /^max-age=\d{8}/)
    const { _links } = (await proxied.json()) as { _links: object[] }
    t.match(_links, [{ rel: 'self', href: 'https://shop.example/v1/products?perPage=5' }])
    child.process.kill('SIGTERM')
    const lines = (await child.ended).out.split('\n').filter((line) => line.startsWith('{'))
    const ofRequests = lines.map((line) => JSON.parse(line)).filter(({ req, res, url }) => (req ?? res ?? url) !== undefined)
    t.ok(ofRequests.length >= 8, `${ofRequests.length} lines`)
    for (const line of ofRequests) t.type(line.reqId, 'string')
    t.ok(ofRequests.some(({ reqId }) => reqId === proxied.headers.get('request-id')))
  }
)

t.test('the service does not start in production on a database with the demo users', async (t) => {
  const environment = environmentOf(await freshDatabase(t))
  const { code, err } = await start(t, { ...environment, NODE_ENV: 'production', PUBLIC_URL: 'https://shop.example', ...secrets }).ended
  t.equal(code, 1)
  t.match(err, /^Cannot start: This database has the demo users, .+\n$/)
})

t.test('a service that other machines can reach does not start without secrets or with the demo users', async (t) => {
  const reachable: readonly (readonly [string, Record<string, string>])[] = [
    ['any host', { HOST: '0.0.0.0' }],
    ['any IPv6 host', { HOST: '::' }],
    ['a host name', { HOST: 'shop.example' }],
    ['a proxy on another machine', { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' }],
    ['every machine of some link', { TRUST_PROXY: 'linklocal' }],
    ['IPv6 machines beside this one', { TRUST_PROXY: '::1/127' }]
  ]
  for (const [name, variables] of reachable) {
    t.throws(
      () => settings(variables),
      {
        message:
          /^CURSOR_SECRETS is missing\. It must be .+ TOKEN_SECRETS is missing\. .+ REFRESH_SECRETS is missing\. .+required in production, and where HOST or TRUST_PROXY/
      },
      name
    )
    t.match(settings({ ...variables, ...secrets }), { isLocal: false }, name)
  }
  for (const variables of [{}, { HOST: 'localhost' }, { HOST: '::1', TRUST_PROXY: '127.0.0.0/8, 127.0.0.0/9, ::1, ::1/128, loopback' }])
    t.match(settings(variables), { isLocal: true }, JSON.stringify(variables))
  const place = await freshDatabase(t)
  await t.rejects(openDatabase({ ...settings({ HOST: '0.0.0.0', ...secrets }), ...place }, ignore), {
    message: /^This database has the demo users, .+\. Check DATA/
  })
})
