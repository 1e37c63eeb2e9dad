import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import t from 'tap'
import { buildApp } from '../src/app.ts'

const origin = { issuer: 'https://id.example', audience: 'shop' }
const kit = testKit(origin)
const legacy = createServer((_request, response) => response.setHeader('content-type', 'text/plain').end('old')).listen(0, '127.0.0.1')
await once(legacy, 'listening')
t.teardown(() => legacy.close())
const app = await buildApp({
  authentication: { issuers: [ownTokens({ ...origin, keys: kit.keys })], permissions: ['metrics:read', 'uploads:create'] },
  publicUrl: 'https://api.shop.example',
  legacyUrl: `http://127.0.0.1:${(legacy.address() as AddressInfo).port}`,
  sessionSecret: 'kR7vZ8mB1xT6yW0rLd5uKc9nHs2gPf7aEo4i'
})
t.teardown(() => app.close())
const url = await app.listen({ host: '127.0.0.1', port: 0 })
const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })
const authorization = `Bearer ${kit.token({ scope: 'metrics:read uploads:create' })}`

t.test('the site, its pages and the documentation are served as before, with the headers of the preset', async (t) => {
  for (const [path, text] of [
    ['/', '<h1>Shop</h1>'],
    ['/account', 'Visits: 1'],
    ['/docs/', 'Swagger UI'],
    ['/legacy/anything', 'old'],
    ['/status', 'ok']
  ] as const) {
    const response = await get(path, { accept: 'text/html' })
    t.equal(response.status, 200, path)
    t.match(await response.text(), text, path)
    t.match(response.headers.get('request-id'), /./)
    t.equal(response.headers.get('x-content-type-options'), 'nosniff')
  }
  const session = (await get('/account')).headers.get('set-cookie')?.split(';')[0] ?? ''
  t.match(await (await get('/account', { cookie: session })).text(), 'Visits: 2')
})

t.test('the API follows the conventions', async (t) => {
  t.match(await (await get('/v1/products/1')).json(), { data: { id: '1', name: 'Tea' }, _meta: { version: 'v1' } })
  t.match(await (await get('/versions')).json(), { data: { versions: [{ version: 'v1' }] } })
  t.equal((await get('/v1/products/1', { accept: 'text/html' })).status, 406)
  const shared = await get('/v1/products/1', { origin: 'https://shop.example' })
  t.equal(shared.headers.get('access-control-allow-origin'), 'https://shop.example')
})

t.test('metrics and uploads need their permissions, and uploads are bounded', async (t) => {
  for (const path of ['/metrics', '/uploads'])
    t.match(await (await fetch(url + path, { method: path === '/uploads' ? 'POST' : 'GET' })).json(), { error: { status: 401 } })
  t.match(await (await get('/metrics', { authorization })).text(), 'process_cpu')
  const upload = async (size: number) => {
    const body = new FormData()
    body.set('file', new Blob(['x'.repeat(size)]), 'a.txt')
    const response = await fetch(`${url}/uploads`, { method: 'POST', headers: { authorization }, body })
    return { status: response.status, ...((await response.json()) as object) }
  }
  t.match(await upload(50), { status: 200, bytes: 50 })
  t.match(await upload(200_000), { status: 413, error: { status: 413 } })
})

t.test('forms, events and sockets work', async (t) => {
  const issued = await get('/contact')
  const cookie = issued.headers.get('set-cookie')?.split(';')[0] ?? ''
  const { token } = (await issued.json()) as { token: string }
  const send = (fields: Record<string, string>) =>
    fetch(`${url}/contact`, { method: 'POST', headers: { cookie }, body: new URLSearchParams(fields) })
  t.match(await (await send({ _csrf: token, text: 'hello' })).json(), { text: 'hello' })
  t.match(await (await send({ text: 'hello' })).json(), { error: { status: 403, code: 'FORBIDDEN' } })
  t.match(await (await get('/events', { accept: 'text/event-stream' })).text(), 'data: "hello"')
  const socket = new WebSocket(`${url.replace('http', 'ws')}/sockets`)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const received = new Promise<MessageEvent>((resolve) => socket.addEventListener('message', resolve))
  socket.send('hello')
  t.equal(String((await received).data), 'echo hello')
  const closed = new Promise((resolve) => socket.addEventListener('close', resolve))
  socket.close()
  await closed
})

t.test('failures are in the error envelope', async (t) => {
  for (const [path, status] of [
    ['/missing.html', 404],
    ['/v1/none', 404]
  ] as const)
    t.match(await (await get(path)).json(), { error: { status } })
})
