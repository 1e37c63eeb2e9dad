import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { Webhook } from 'standardwebhooks'
import type { Test } from 'tap'

/** One attempt, as it was received. */
export interface Received {
  readonly id: string
  readonly headers: Record<string, string>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly event: any
}

export interface Receiver {
  readonly url: string
  /** All attempts that were received. */
  readonly received: readonly Received[]
  /** Waits for the next attempt that has not been returned yet. */
  readonly next: () => Promise<Received>
}

const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })

/** The certificate of receivers, for a proxy in front of one. */
export const certificate = { key, cert } as const

/** Starts a receiver on this machine, with TLS and its own certificate. It responds with a status, or does not respond at all. */
export async function startReceiver(t: Test, reply: (count: number) => number | undefined = () => 204): Promise<Receiver> {
  const received: Received[] = []
  const verified = new Set<unknown>()
  let read = 0
  let wake = Promise.withResolvers<void>()
  const server = createServer({ key, cert }, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    const headers = request.headers as Record<string, string>
    const event = JSON.parse(text)
    // The first ping of each subscription verifies its URL.
    if (event.type === 'webhook.ping' && !verified.has(event.data.subscriptionId)) {
      verified.add(event.data.subscriptionId)
      response.writeHead(204).end()
      return
    }
    received.push({ id: String(headers['webhook-id']), headers, text, event })
    wake.resolve()
    wake = Promise.withResolvers()
    const status = reply(received.length)
    if (status !== undefined) response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/hooks`,
    received,
    async next() {
      while (received.length === read) await wake.promise
      read += 1
      return received[read - 1] as Received
    }
  }
}

/** Whether the reference implementation of Standard Webhooks accepts the signature. */
export function verifies(secret: string, { text, headers }: Received): boolean {
  try {
    new Webhook(secret).verify(text, headers)
    return true
  } catch {
    return false
  }
}
