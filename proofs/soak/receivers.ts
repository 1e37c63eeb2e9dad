// Receivers of webhooks, from reliable to hostile, and what each subscription got.
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { generate } from 'selfsigned'
import type { Evidence } from './evidence.ts'
import type { Recorder } from './recorder.ts'

export type Temper = 'steady' | 'flaky' | 'gone'

interface Inbox {
  secrets: string[]
  /** Requests that arrived before the client knew the secret. */
  readonly unverified: { readonly headers: IncomingHttpHeaders; readonly text: string }[]
  readonly events: Set<string>
  readonly ids: Set<string>
  /** The events of each order, in the order of their first arrival. */
  readonly notes: Map<string, string[]>
}

export interface Receivers {
  url(temper: Temper, name: string): string
  /** Trusts a secret for what arrives at a subscription. */
  trust(name: string, secret: string): void
  inbox(name: string): Inbox
  /** While true, connections of flaky receivers are refused. */
  isDown: boolean
  /** While true, flaky receivers behave as steady ones. */
  isCalm: boolean
  /** Requests that got a 2xx, and those of them with an id that the subscription had already. */
  readonly totals: { delivered: number; repeated: number; refused: number; gone: number }
  close(): Promise<void>
}

const slowMs = 3000

export async function startReceivers(random: () => number, evidence: Evidence, recorder: Recorder): Promise<Receivers> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  const inboxes = new Map<string, Inbox>()
  const servers = new Map<Temper, Server>()
  for (const temper of ['steady', 'flaky', 'gone'] as const) {
    const server = createServer({ key, cert }, (request, response) => {
      receive(temper, request, response).catch(() => response.destroy())
    })
    server.on('connection', (socket: Socket) => receivers.isDown && temper === 'flaky' && socket.resetAndDestroy())
    servers.set(temper, server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
  }

  async function receive(temper: Temper, request: IncomingMessage, response: ServerResponse) {
    const text = Buffer.concat(await request.toArray()).toString()
    const name = String(request.url).split('/').at(-1) as string
    const { type } = JSON.parse(text) as { type: string }
    if (temper === 'gone' && type !== 'webhook.ping') return refuse(response, 410)
    if (temper === 'flaky' && !receivers.isCalm) {
      const chance = random()
      if (chance < 0.06) return refuse(response, 500)
      if (chance < 0.08) return refuse(response, 503, { 'retry-after': '2' })
      if (chance < 0.1) return void request.socket.resetAndDestroy()
      // No response at all: the attempt ends after 20 seconds.
      if (chance < 0.101) return
      if (chance < 0.13) await delay(slowMs)
    }
    accept(name, request.headers, text)
    response.writeHead(204).end()
  }

  function refuse(response: ServerResponse, status: number, headers = {}) {
    receivers.totals.refused += 1
    if (status === 410) receivers.totals.gone += 1
    response.writeHead(status, headers).end()
  }

  function accept(name: string, headers: IncomingHttpHeaders, text: string) {
    const inbox = receivers.inbox(name)
    receivers.totals.delivered += 1
    if (inbox.secrets.length === 0) inbox.unverified.push({ headers, text })
    else verify(name, inbox, headers, text)
    const id = String(headers['webhook-id'])
    if (inbox.ids.has(id)) receivers.totals.repeated += 1
    inbox.ids.add(id)
    const { type, data } = JSON.parse(text) as { type: string; data: { id: string; status?: string; note?: string; description?: string } }
    for (const one of keysOf(type, data)) inbox.events.add(one)
    if (type === 'order.updated' && data.note !== undefined) {
      const seen = inbox.notes.get(data.id) ?? []
      inbox.notes.set(data.id, seen)
      if (seen.at(-1) !== data.note) seen.push(data.note)
    }
  }

  function verify(name: string, { secrets }: Inbox, headers: IncomingHttpHeaders, text: string) {
    try {
      verifyWebhook(headers, text, { keys: secrets })
    } catch (error) {
      evidence.fail(
        'every delivery is signed with the secret of its subscription',
        `${name} at ${recorder.now.toFixed(1)} s: ${String(error)}`
      )
    }
  }

  const receivers: Receivers = {
    isDown: false,
    isCalm: false,
    totals: { delivered: 0, repeated: 0, refused: 0, gone: 0 },
    url: (temper, name) => `https://localhost:${((servers.get(temper) as Server).address() as AddressInfo).port}/hooks/${name}`,
    inbox(name) {
      const known = inboxes.get(name) ?? { secrets: [], unverified: [], events: new Set(), ids: new Set(), notes: new Map() }
      inboxes.set(name, known)
      return known
    },
    trust(name, secret) {
      const inbox = receivers.inbox(name)
      inbox.secrets.push(secret)
      for (const { headers, text } of inbox.unverified.splice(0)) verify(name, inbox, headers, text)
    },
    async close() {
      for (const server of servers.values()) {
        server.close()
        server.closeAllConnections()
      }
    }
  }
  return receivers
}

/** Returns the names under which an event is expected. The end of a note or description is the change that caused the event. */
function keysOf(
  type: string,
  data: { readonly id?: string; readonly status?: string; readonly note?: string; readonly description?: string }
): string[] {
  const text = data.note ?? data.description
  const base = `${type} ${data.id}`
  return [base, `${base} ${data.status}`, ...(text === undefined ? [] : [`${base} ${text.slice(text.lastIndexOf(';') + 1)}`])]
}
