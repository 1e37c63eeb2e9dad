// Receives webhooks on this machine and prints them. Set WEBHOOK_SECRET to the secret of the subscription. For trying out webhooks, and
// as a starting point for a receiver.
import { createReceiver } from '@concordat/webhooks/receiver'
import Fastify from 'fastify'
import { generate } from 'selfsigned'

const { WEBHOOK_SECRET = '', RECEIVER_PORT = '8444' } = process.env
const altNames = [
  { type: 2, value: 'localhost' },
  { type: 7, ip: '127.0.0.1' }
] as const
const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames: [...altNames] }]
})

const app = Fastify({ https: { key, cert } })
const receiver = createReceiver({
  path: '/hooks',
  keys: WEBHOOK_SECRET.split(' '),
  onEvent: ({ id, type, timestamp, data }) => console.log(`${timestamp} ${type} ${id}\n${JSON.stringify(data)}`)
})
await app.register(receiver)
app.addHook('onResponse', async ({ headers }, { statusCode }) => console.log(`→ ${statusCode} to ${String(headers['webhook-id'])}`))
console.log(`Receiving at ${await app.listen({ host: '127.0.0.1', port: Number(RECEIVER_PORT) })}/hooks`)
