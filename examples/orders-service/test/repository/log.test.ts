import { connect } from 'node:net'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { startChild } from './child.ts'
import { environmentOf, freshDatabase } from './fresh-database.ts'

const password = 'correct horse battery staple'
// None of these may appear in a log, in any part of a request.
const canaries = Array.from({ length: 20 }, (_, index) => `canary-${index}-Zq9xW`)
let next = 0
const canary = () => canaries[next++] as string

t.test('the log of a full run at the most verbose level contains no token, password, key, e-mail or query secret [S12]', async (t) => {
  const child = startChild(t, { ...environmentOf(await freshDatabase(t)), LOG_LEVEL: 'trace' })
  const address = await child.address
  const secrets: string[] = []

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const payload = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await describedFetch(address + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: payload })
    })
    const text = await response.text()
    return { status: response.status, data: text === '' ? undefined : JSON.parse(text).data }
  }

  async function signIn(username: string) {
    const { data } = await send('POST', '/v1/tokens', { username, password })
    secrets.push(data.accessToken, data.refreshToken)
    return { ...data, headers: { authorization: `Bearer ${data.accessToken}` } }
  }

  const staff = await signIn('ops@example.com')
  const ada = await signIn('ada@example.com')
  const mail = `${canary()}@example.com`
  const contact = { companyName: 'Bakery', contactName: 'B', email: mail, country: 'Malta' }

  const responses: readonly (readonly [number, Promise<{ status: number }>])[] = [
    [401, send('POST', '/v1/tokens', { username: `${canary()}@example.com`, password: canary() })],
    [401, send('POST', '/v1/tokens', { username: 'max@example.com', password: canary() })],
    [401, send('POST', '/v1/tokens', { refreshToken: canary() })],
    [422, send('POST', '/v1/tokens', { password: canary() })],
    [422, send('POST', '/v1/tokens', { username: 'max@example.com', password: canary(), secret: canary() })],
    [400, send('POST', '/v1/tokens', `{"password":"${canary()}"`)],
    [201, send('POST', '/v1/token-revocations', { token: canary() })],
    [401, send('GET', '/v1/orders', undefined, { authorization: `Bearer ${canary()}` })],
    [401, send('GET', '/v1/orders', undefined, { authorization: `Bearer ${staff.accessToken}x` })],
    [401, send('GET', '/v1/orders', undefined, { authorization: `Basic ${btoa(`ada:${canary()}`)}` })],
    [401, send('GET', '/v1/orders', undefined, { 'x-api-key': canary(), cookie: `session=${canary()}` })],
    [400, send('GET', `/v1/orders?access_token=${canary()}`)],
    [400, send('GET', `/v1/nothing?api_key=${canary()}&password=${canary()}`)],
    [201, send('POST', '/v1/customers', contact, staff.headers)],
    [200, send('GET', '/v1/orders?perPage=3', undefined, ada.headers)]
  ]
  for (const [status, response] of responses) t.equal((await response).status, status)
  t.equal((await send('PATCH', '/v1/customers/no-id', { email: `${canary()}@` }, staff.headers)).status, 404)
  t.equal((await send('POST', '/v1/tokens', { refreshToken: ada.refreshToken })).status, 200)

  // A request that is not valid HTTP, with a secret in it.
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  await new Promise((resolve) =>
    socket.once('close', resolve).end(`GET /v1/orders?token=${canary()} HTTP/9.9\r\nauthorization: ${canary()}\r\n\r\n`).resume()
  )

  child.process.kill('SIGTERM')
  const { out, err } = await child.ended
  const log = out + err
  t.ok(log.includes('/v1/orders?perPage=3'), 'values that are not secret are logged')
  for (const name of [...canaries.slice(0, next), ...secrets, password, 'ops@example.com', 'ada@example.com']) {
    t.notOk(log.includes(name) || log.includes(btoa(`ada:${name}`)), `${name.slice(0, 30)} is in no line`)
  }
})
