// A receiver of webhooks over TLS, in a separate process: it responds only to the first request to each
// path below /hang/, which verifies it, and responds to all other paths immediately.
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { generate } from 'selfsigned'

/** A request that the receiver got. */
export interface Received {
  readonly path: string
  readonly webhookId: string
  /** The id of the event in its data. */
  readonly emittedId: string
  /** Its `User-Agent`. */
  readonly sender: string
  readonly at: number
  /** How long ago the event was emitted. */
  readonly ageMs: number
}

const altNames = [{ type: 2 as const, value: 'localhost' }]
const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames }]
})
let received: Received[] = []
let count = 0

const verified = new Set<string>()
const isRecording = process.env['RECORD'] === 'yes'

const server = createServer({ key, cert, keepAliveTimeout: 600_000 }, (request, response) => {
  let text = ''
  if (isRecording) request.setEncoding('utf8').on('data', (part: string) => (text += part))
  else request.resume()
  request.on('end', () => {
    count += 1
    if (isRecording) record(request, text)
    const path = String(request.url)
    if (!path.startsWith('/hang') || !verified.has(path)) response.writeHead(204).end()
    verified.add(path)
  })
})

function record({ url, headers }: IncomingMessage, text: string) {
  const { type, timestamp, data } = JSON.parse(text) as { type: string; timestamp: string; data: { id: string } }
  // The verification of the URL.
  if (type === 'webhook.ping') return
  const at = Date.now()
  const { 'webhook-id': webhookId, 'user-agent': sender } = headers
  const seen = { path: String(url), webhookId: String(webhookId), emittedId: data.id, sender: String(sender) }
  received.push({ ...seen, at, ageMs: at - Date.parse(timestamp) })
}

server.listen(0, '127.0.0.1', () => process.send?.({ address: server.address(), certificate: cert }))
process.on('message', (input) => {
  if (input === 'count') process.send?.({ count })
  if (input === 'take') {
    process.send?.({ received })
    received = []
  }
})
process.on('disconnect', () => process.exit())
