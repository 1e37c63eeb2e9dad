import { setTimeout as delay } from 'node:timers/promises'
import type { Engine } from './engine.ts'

// A NOTIFY in the transaction that adds a job would make all commits of the database wait for each other.
const intervalMs = 5
const listenAgainAfterMs = 1000

/**
 * Creates what notifies the workers of other processes of new jobs, and calls `onNews` with the name of the queue when another process does. It is only
 * a hint: behind PgBouncer, and while the connection is lost, workers find jobs with their next poll. Returns `undefined` where no other process
 * can be notified.
 */
export function announcer({ database: { listen, statements }, schema, clock }: Engine, onNews: (name: string) => void) {
  // The time of a test clock does not move while a process waits for another.
  if (listen === undefined || clock.follow !== undefined) return undefined
  const channel = `${schema}_jobs`
  const names = new Set<string>()
  let sending: Promise<void> | undefined
  let line: Promise<(() => Promise<void>) | void> | undefined
  let listenAgain: NodeJS.Timeout | undefined
  let isClosed = false

  async function send() {
    while (names.size > 0) {
      const batch = [...names]
      names.clear()
      await statements.executeSql('SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name', [channel, batch]).catch(() => {})
      await delay(intervalMs)
    }
    sending = undefined
  }

  function open() {
    line ??= listen?.(channel, { onMessage: onNews, onLost }).catch(onLost)
  }

  function onLost() {
    line = undefined
    if (!isClosed) listenAgain = setTimeout(open, listenAgainAfterMs).unref()
  }

  return {
    /** Notifies the workers of other processes, at most every 5 ms. */
    announce(name: string) {
      names.add(name)
      sending ??= send()
    },
    /** Begins to be notified by other processes. */
    listen: open,
    async close() {
      isClosed = true
      clearTimeout(listenAgain)
      await sending
      const end = await line
      await end?.()
    }
  }
}
