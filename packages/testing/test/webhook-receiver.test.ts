import { request } from 'node:https'
import { freshDatabase, testClient, webhookReceiver } from '@concordat/testing'
import t from 'tap'
import { buildApp, prepare } from './book-service.ts'

const client = testClient(t, await buildApp(await freshDatabase(t, { prepare, serverUrl: false })))
const ada = await client.signIn('/v1/tokens', { username: 'ada' })
const path = '/v1/webhook-subscriptions'
const eventTypes = ['book.created']

t.test('receives an event that its service has signed, after the ping that verifies the URL', async (t) => {
  const receiver = await webhookReceiver(t)
  const { body } = await receiver.subscribe(ada, path, { eventTypes })
  await ada.post('/v1/books', { id: '1', title: 'Momo' })
  const { id, event, headers } = await receiver.next()
  t.match(event, { type: 'book.created', data: { id: '1', title: 'Momo' } })
  t.equal(headers['webhook-id'], id)
  t.equal(receiver.attempts.length, 1)
  t.equal((await ada.delete(`${path}/${body.data.id}`, undefined, { 'if-match': '*' })).status, 204)
})

t.test('responds as the test says, so that the service retries', async (t) => {
  const seen: number[] = []
  const receiver = await webhookReceiver(t, { respond: (number) => seen.push(number) && (number === 1 ? undefined : 204) })
  const { body } = await ada.post(path, { url: receiver.url, eventTypes })
  await ada.post('/v1/books', { id: '2', title: 'Jim Button' })
  await t.rejects(receiver.next(), { message: /book\.created is not signed with a trusted key: .* Subscribe with receiver\.subscribe/ })
  receiver.trust(body.data.secret)
  await ada.post(`${path}/${body.data.id}/pings`)
  t.match((await receiver.next()).event, { type: 'webhook.ping' })
  t.strictSame(seen, [1, 2])
})

t.test('an attempt with another signature rejects', async (t) => {
  const receiver = await webhookReceiver(t)
  receiver.trust(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)
  const { url } = receiver
  t.equal(await post(url, JSON.stringify({ type: 'book.created', data: {} })), 204)
  await t.rejects(receiver.next(), { message: /^testing: the webhook book\.created is not signed with a trusted key: [^.]*\.?.*$/ })
  await t.rejects(post(url, 'not JSON'), { code: 'ECONNRESET' })
  t.match(receiver.certificate, { cert: /BEGIN CERTIFICATE/, key: /BEGIN PRIVATE KEY/ })
})

t.test('a subscription that is refused is an error with the response', async (t) => {
  const receiver = await webhookReceiver(t)
  await t.rejects(receiver.subscribe(ada, path, { eventTypes: ['book.lost'] }), {
    message: /returns 422 without a secret\. .*WEBHOOK_EVENT_TYPE_UNKNOWN/
  })
  await t.rejects(receiver.subscribe(ada, '/health/live', {}), { message: /without a secret/ })
})

function post(url: string, text: string) {
  return new Promise<number | undefined>((resolve, reject) => {
    request(url, { method: 'POST', rejectUnauthorized: false }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(text)
  })
}
