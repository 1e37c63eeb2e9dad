import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import { randomFrom } from './random.ts'

// The share of requests that each of them meets. All others pass.
const shares = { requestLost: 0.05, responseLost: 0.07, responseCut: 0.02, repeated: 0.08, requestLate: 0.004, responseLate: 0.004 }

type Fault = keyof typeof shares

/** HTTP proxy whose network loses, delays, repeats and cuts requests and responses. */
export interface LossyProxy {
  readonly url: string
  /** How often each fault has occurred. */
  readonly faults: Readonly<Record<Fault, number>>
  /** Loses the response of the next request to this method and path, whatever the seed. */
  loseResponse(operation: string): void
}

/** Options of {@link lossyProxyOf}. */
export interface LossyProxyOptions {
  readonly seed: number
  /** The operations that meet faults, such as `POST /v2/orders`: all by default. */
  readonly only?: RegExp
  /** How long a late request or response is on its way: longer than an attempt of the client. */
  readonly lateMs: number
}

interface Received {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: Buffer
}

const longestDelayMs = 15
// Those of the connection to the service.
const ownHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'content-length']

/** Starts a proxy in front of the service at this URL, for the duration of the test. A request that its client no longer waits for is sent nevertheless. */
export async function lossyProxyOf(t: Test, target: string, { seed, lateMs, only = /./ }: LossyProxyOptions): Promise<LossyProxy> {
  const random = randomFrom(seed)
  const agent = new Agent({ keepAlive: true })
  const faults = Object.fromEntries(Object.keys(shares).map((fault) => [fault, 0])) as Record<Fault, number>
  const named: string[] = []
  const server = createServer((incoming, outgoing) => {
    // The client or the service has closed its connection.
    pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
    agent.destroy()
  })

  function faultOf(operation: string): Fault | undefined {
    const index = named.indexOf(operation)
    if (index >= 0) {
      named.splice(index, 1)
      return 'responseLost'
    }
    let drawn = random()
    return only.test(operation) ? (Object.keys(shares) as Fault[]).find((fault) => (drawn -= shares[fault]) < 0) : undefined
  }

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse) {
    const body = await buffer(incoming)
    const fault = faultOf(`${incoming.method} ${incoming.url}`)
    if (fault !== undefined) faults[fault] += 1
    if (fault === 'requestLost') return outgoing.destroy()
    await delay(fault === 'requestLate' ? lateMs : random() * longestDelayMs)
    const first = forward(incoming, body)
    // A repeated request follows the first, or overtakes it.
    const second = fault === 'repeated' ? delay(random() * longestDelayMs).then(() => forward(incoming, body)) : first
    const [one, other] = await Promise.all([first, second])
    const received = random() < 0.5 ? one : other
    if (fault === 'responseLost') return outgoing.destroy()
    await delay(fault === 'responseLate' ? lateMs : random() * longestDelayMs)
    const hasBody = incoming.method !== 'HEAD' && received.status !== 204 && received.status !== 304
    outgoing.writeHead(received.status, [...received.headers, ...(hasBody ? ['content-length', String(received.body.length)] : [])])
    if (fault !== 'responseCut') return outgoing.end(received.body)
    return outgoing.write(received.body.subarray(0, received.body.length / 2), () => outgoing.destroy())
  }

  async function forward({ method, url = '/', headers }: IncomingMessage, body: Buffer): Promise<Received> {
    const { connection: _, ...others } = headers
    const sent = request(new URL(url, target), { method, agent, headers: { ...others, host: new URL(target).host } })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const { rawHeaders: raw } = response
    const kept = raw.filter((_, index) => !ownHeaders.includes(String(raw[index - (index % 2)]).toLowerCase()))
    return { status: Number(response.statusCode), headers: kept, body: await buffer(response) }
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    loseResponse(operation) {
      named.push(operation)
    }
  }
}
