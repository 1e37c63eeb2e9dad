// Receives webhooks on this machine and prints them. Set WEBHOOK_SECRET to the secret of the subscription. For trying out webhooks, and
// as a starting point for a receiver.
import { readSettings } from '@concordat/service'
import { createReceiver } from '@concordat/webhooks/receiver'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import { generate } from 'selfsigned'

const { WEBHOOK_SECRET, RECEIVER_PORT } = process.env
const { variables } = readSettings(
  {
    folder: new URL('.', import.meta.url),
    variables: {
      WEBHOOK_SECRET: Type.String({ default: '' }),
      RECEIVER_PORT: Type.Integer({ default: 8444, minimum: 0, maximum: 65_535, description: 'an integer from 0 to 65535' })
    }
  },
  { WEBHOOK_SECRET, RECEIVER_PORT }
)
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
  keys: variables.WEBHOOK_SECRET.split(' '),
  onEvent: ({ id, type, timestamp, data }) => console.log(`${shown(`${timestamp} ${type} ${id}`)}\n${shown(JSON.stringify(data))}`)
})
await app.register(receiver)
app.addHook('onResponse', async ({ headers }, { statusCode }) => console.log(`→ ${statusCode} to ${shown(headers['webhook-id'])}`))
console.log(`Receiving at ${await app.listen({ host: '127.0.0.1', port: variables.RECEIVER_PORT })}/hooks`)

// A terminal acts on control characters, which JSON and headers may contain.
function shown(text: unknown) {
  return String(text).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
}
