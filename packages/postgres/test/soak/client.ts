import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet, Member } from './fleet.ts'

const pauseMilliseconds = 20

/** What a client was told. */
export interface Told {
  readonly body: string
  readonly location: string | null
}

/** Asks until the answer is a success, wherever it comes from. `lost` is told which process went away with the request, and when. */
export async function askUntilDone(fleet: Fleet, key: string, lost: (member: Member) => void = () => {}, path = '/orders'): Promise<Told> {
  for (;;) {
    const up = fleet.members.filter(({ isUp }) => isUp)
    const member = up[Math.floor(Math.random() * up.length)]
    if (member !== undefined) {
      try {
        const answer = await fetch(`${member.url}${path}`, { method: 'POST', headers: { 'idempotency-key': key } })
        const body = await answer.text()
        member.served += 1
        if (answer.ok) return { body, location: answer.headers.get('location') }
      } catch {
        lost(member)
      }
    }
    await delay(pauseMilliseconds)
  }
}
