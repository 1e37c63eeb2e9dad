// What the sender costs over raw signed POSTs by undici, to one receiver over TLS in another process, in interleaved rounds.
// node --conditions=@concordat/source packages/webhooks/bench/sender.ts
import { fork } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { newSecret, webhookSender } from '@concordat/webhooks'
import { generate } from 'selfsigned'
import { Agent, request } from 'undici'

const rounds = 7
const count = 3000
const atOnce = 50

if (process.send) await receive()
else await measure()

async function receive() {
  const extensions = [{ name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'localhost' }] }]
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec', extensions })
  const server = createServer({ key, cert, keepAliveTimeout: 60_000 }, (incoming, answer) => {
    incoming.resume().on('end', () => answer.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1', () => process.send?.({ address: server.address(), cert }))
}

async function measure() {
  const receiver = fork(import.meta.filename)
  const [{ address, cert }] = (await once(receiver, 'message')) as [{ address: { port: number }; cert: string }]
  const url = `https://localhost:${address.port}/`
  const secret = newSecret()
  const body = JSON.stringify({ type: 'order.created', timestamp: new Date().toISOString(), data: { text: 'a'.repeat(900) } })
  const sender = webhookSender({ certificateAuthorities: [cert], dangerouslyAllowLoopback: true })
  const raw = new Agent({ allowH2: false, connect: { ca: cert } })
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const ways: Record<string, (id: string) => Promise<unknown>> = {
    sender: async (id) => sender.send({ url, keys: [secret], id, body }),
    async raw(id) {
      const timestamp = Math.floor(Date.now() / 1000)
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`
      }
      await (await request(url, { method: 'POST', dispatcher: raw, headers, body })).body.dump()
    }
  }
  const rates: Record<string, number[]> = { sender: [], raw: [] }
  for (let round = 0; round < rounds; round++) for (const [name, send] of Object.entries(ways)) rates[name]?.push(await rateOf(send))
  const [ours = 0, theirs = 0] = [rates['sender'], rates['raw']].map((values = []) => values.toSorted((a, b) => a - b)[rounds >> 1])
  console.log(`sender ${Math.round(ours)}/s, raw ${Math.round(theirs)}/s, ratio ${(ours / theirs).toFixed(2)}`)
  await Promise.all([sender.close(), raw.close()])
  receiver.kill()
}

async function rateOf(send: (id: string) => Promise<unknown>) {
  const began = performance.now()
  let next = 0
  const line = async () => {
    while (next < count) await send(`msg_${next++}`)
  }
  await Promise.all(Array.from({ length: atOnce }, line))
  return (count / (performance.now() - began)) * 1000
}
