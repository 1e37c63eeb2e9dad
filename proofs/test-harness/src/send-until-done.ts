import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet, FleetMember } from './fleet.ts'

const pauseMs = 20

/** The request that belongs to a key. */
export interface KeyedRequest {
  readonly path: string
  /** Headers in addition to `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/** The content of the successful response that a client finally gets. */
export interface ResponseContent {
  readonly body: string
  readonly location: string | null
}

/** Callbacks that report the attempts of a client. */
export interface Watch {
  responded(status: number): void
  /** Called when a process ended while it handled the request, or the connection broke. */
  lost(member: FleetMember): void
}

/**
 * Sends the request to any process that is up until the response is a success. After a broken connection it tries another process
 * immediately; after any other response it waits for the time in `Retry-After`.
 */
export async function sendUntilDone(
  fleet: Fleet,
  key: string,
  { path, headers, body }: KeyedRequest,
  watch: Watch
): Promise<ResponseContent> {
  const request = { method: 'POST', headers: { ...headers, 'idempotency-key': key }, ...(body !== undefined && { body }) }
  for (;;) {
    const up = fleet.members.filter(({ isUp }) => isUp)
    const member = up[Math.floor(Math.random() * up.length)]
    let pause = pauseMs
    if (member !== undefined) {
      member.underWay += 1
      try {
        const response = await fetch(`${member.url}${path}`, request)
        const content = { body: await response.text(), location: response.headers.get('location') }
        member.served += 1
        watch.responded(response.status)
        if (response.ok) return content
        pause = Math.max(pause, Number(response.headers.get('retry-after')) * 1000)
      } catch {
        watch.lost(member)
      } finally {
        member.underWay -= 1
      }
    }
    await delay(pause)
  }
}
