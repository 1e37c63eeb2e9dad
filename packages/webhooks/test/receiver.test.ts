import { movedDate } from '@concordat/test-harness/moved-date'
import { newSecret, newSigningKeyPair, signatureOf, webhookSender } from '@concordat/webhooks'
import { createReceiver, memoryReplayStore, type WebhookEvent, webhookReceiverErrors } from '@concordat/webhooks/receiver'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { allowingLoopback, identity } from './tls-receiver.ts'

type ReceiverOptions = Parameters<typeof createReceiver>[0]

const secret = newSecret()
const timestamp = '2026-01-02T03:04:05.678Z'
const bodyOf = (data: unknown) => JSON.stringify({ type: 'order.created', timestamp, data })

async function service(t: Test, options: Partial<ReceiverOptions> = {}) {
  const events: WebhookEvent[] = []
  const app = Fastify()
  await app.register(createReceiver({ keys: [secret], path: '/hooks', onEvent: (event) => events.push(event), ...options }))
  app.post('/orders', async (request) => ({ read: request.body }))
  t.teardown(() => app.close())
  return { app, events }
}

function signed(body: string | Buffer, { id = 'msg_1', keys = [secret], at = Date.now() } = {}) {
  const seconds = Math.floor(at / 1000)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureOf({ id, timestamp: seconds, body }, keys)
  }
  return { method: 'POST' as const, url: '/hooks', headers, payload: body }
}

t.test('a webhook from webhookSender arrives as an event, over TLS [W2] [W3]', async (t) => {
  const events: WebhookEvent[] = []
  const app = Fastify({ https: identity })
  await app.register(createReceiver({ keys: [secret], onEvent: (event) => events.push(event) }), { prefix: '/hooks' })
  t.teardown(() => app.close())
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/hooks`
  const sender = webhookSender(allowingLoopback)
  t.teardown(() => sender.close())
  const result = await sender.send({ url, keys: [newSecret(), secret], id: 'msg_1', body: bodyOf({ id: '7' }) })
  t.equal(result.statusCode, 204)
  t.strictSame(events, [{ id: 'msg_1', type: 'order.created', timestamp, data: { id: '7' } }])
})

t.test('verifies the signature on the raw bytes, and does not change the parsers of other routes', async (t) => {
  const { app, events } = await service(t)
  const spaced = `{ "type":  "order.created",\n"data": {"amount": 1.10, "text": "Ñ\\u00e9"} }`
  t.equal((await app.inject(signed(spaced))).statusCode, 204)
  t.match(events, [{ id: 'msg_1', data: { amount: 1.1, text: 'Ñé' } }])
  t.strictSame((await app.inject({ method: 'POST', url: '/orders', payload: { a: 1 } })).json(), { read: { a: 1 } })
})

t.test('accepts any content type, and requests without one', async (t) => {
  const { app, events } = await service(t)
  for (const [index, type] of ['application/json; charset=utf-8', 'text/plain', 'application/cloudevents+json'].entries()) {
    const request = signed(bodyOf({}), { id: `msg_${index}` })
    t.equal((await app.inject({ ...request, headers: { ...request.headers, 'content-type': type } })).statusCode, 204)
  }
  const { 'content-type': _, ...headers } = signed(bodyOf({}), { id: 'msg_none' }).headers
  t.equal((await app.inject({ ...signed(bodyOf({}), { id: 'msg_none' }), headers })).statusCode, 204)
  t.equal(events.length, 4)
})

t.test('refuses unsigned, altered, expired and malformed requests without calling onEvent', async (t) => {
  const { app, events } = await service(t)
  const good = signed(bodyOf({}))
  const { 'webhook-signature': _, ...unsigned } = good.headers
  const requests = [
    [{ ...good, headers: unsigned }, 400, 'WEBHOOK_HEADER_MISSING'],
    [{ ...good, payload: bodyOf({ a: 1 }) }, 403, 'WEBHOOK_SIGNATURE_INVALID'],
    [{ ...good, payload: '' }, 403, 'WEBHOOK_SIGNATURE_INVALID'],
    [signed(bodyOf({}), { keys: [newSecret()] }), 403, 'WEBHOOK_SIGNATURE_INVALID'],
    [signed(bodyOf({}), { at: Date.now() - 302_000 }), 403, 'WEBHOOK_TIMESTAMP_REFUSED'],
    [signed('no json'), 400, 'WEBHOOK_PAYLOAD_INVALID'],
    [signed('null'), 400, 'WEBHOOK_PAYLOAD_INVALID'],
    [signed('"text"'), 400, 'WEBHOOK_PAYLOAD_INVALID'],
    [signed('{"type":1}'), 400, 'WEBHOOK_PAYLOAD_INVALID'],
    [signed(''), 400, 'WEBHOOK_PAYLOAD_INVALID'],
    [signed(Buffer.from('{"type":"\u00ff"}', 'latin1')), 400, 'WEBHOOK_PAYLOAD_INVALID']
  ] as const
  for (const [request, status, code] of requests) {
    const response = await app.inject(request)
    t.equal(response.statusCode, status)
    t.equal(response.json().code, code)
  }
  t.strictSame(events, [])
  t.equal((await app.inject(good)).statusCode, 204, 'no refused request has claimed the id')
})

t.test('the id of an event is the signed header, whatever the body contains', async (t) => {
  const { app, events } = await service(t)
  t.equal((await app.inject(signed('{"id":"msg_other","type":"order.created","data":{}}'))).statusCode, 204)
  t.match(events, [{ id: 'msg_1', type: 'order.created' }])
})

t.test('processes a repeated event once and responds with 204 each time', async (t) => {
  const { app, events } = await service(t)
  for (let count = 0; count < 3; count++) t.equal((await app.inject(signed(bodyOf({})))).statusCode, 204)
  t.equal((await app.inject(signed(bodyOf({}), { at: Date.now() - 100_000 }))).statusCode, 204)
  t.equal(events.length, 1)
})

t.test('returns 409 while an event is being processed, and accepts it again when processing failed', async (t) => {
  const begun = Promise.withResolvers<void>()
  const failing = Promise.withResolvers<void>()
  let count = 0
  const { app } = await service(t, {
    async onEvent() {
      count += 1
      if (count > 1) return
      begun.resolve()
      await failing.promise
      throw Object.assign(new Error('Gone.'), { statusCode: 410 })
    }
  })
  const first = app.inject(signed(bodyOf({})))
  await begun.promise
  const second = await app.inject(signed(bodyOf({})))
  t.equal(second.statusCode, 409)
  t.equal(second.json().code, 'WEBHOOK_IN_PROGRESS')
  failing.resolve()
  t.equal((await first).statusCode, 410)
  t.equal((await app.inject(signed(bodyOf({})))).statusCode, 204)
  t.equal(count, 2)
})

t.test('accepts both keys of a rotation, and public keys', async (t) => {
  const { privateKey, publicKey } = newSigningKeyPair()
  const old = newSecret()
  const { app, events } = await service(t, { keys: [secret, old, publicKey] })
  for (const [index, keys] of [[secret], [old], [privateKey], [old, newSecret()]].entries()) {
    t.equal((await app.inject(signed(bodyOf({}), { id: `msg_${index}`, keys }))).statusCode, 204)
  }
  t.equal(events.length, 4)
})

t.test('memoryReplayStore stores ids for four days, and at most 100,000', async (t) => {
  const clock = movedDate(t, 0)
  const store = memoryReplayStore()
  const claims = async (...ids: string[]) => Promise.all(ids.map((id) => store.claim(id)))
  t.strictSame(await claims('a', 'a'), ['new', 'working'])
  await store.finish('a')
  clock.now = 4 * 86_400_000
  t.strictSame(await claims('a'), ['seen'])
  clock.now += 1
  t.strictSame(await claims('a'), ['new'])
  await store.release('a')
  t.strictSame(await claims('a', 'b'), ['new', 'new'])
  for (let count = 2; count < 100_000; count += 1) await store.claim(String(count))
  t.strictSame(await claims('b', 'c', 'a', 'c'), ['working', 'new', 'new', 'working'])
})

t.test('routeConfig is the config of the route, and webhookReceiverErrors has each message in English and Spanish', async (t) => {
  const configs: unknown[] = []
  const app = Fastify()
  app.addHook('onRoute', ({ config, method }) => void configs.push([method, config]))
  await app.register(createReceiver({ keys: [secret], onEvent() {}, routeConfig: { otherConfigKeys: ['audit'] } }))
  t.match(configs, [['POST', { otherConfigKeys: ['audit'] }]])
  for (const { message } of Object.values(webhookReceiverErrors.definitions)) t.strictSame(Object.keys(message).toSorted(), ['en', 'es'])
})

t.test('createReceiver rejects missing, private and invalid keys', async (t) => {
  t.throws(() => createReceiver({ keys: [], onEvent() {} }), /^webhooks: options\.keys is empty\./)
  t.throws(
    () => createReceiver({ keys: [secret, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], onEvent() {} }),
    /^webhooks: options\.keys\[1\] is published as an example\. Let the sender create/
  )
  for (const keys of [[newSigningKeyPair().privateKey], [secret, newSigningKeyPair().privateKey]])
    t.throws(() => createReceiver({ keys, onEvent() {} }), /options\.keys must not contain a private key \("whsk_"\)/)
  t.throws(() => createReceiver({ keys: ['secret'], onEvent() {} }), /a key is invalid/)
})
