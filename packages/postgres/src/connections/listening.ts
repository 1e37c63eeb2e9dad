import { type CheckedOut, sendOn } from './pool-session.ts'
import type { Listener } from './postgres.ts'

/**
 * Listens to a channel on a connection of its own, which `checkOut` checks out, until the returned function is called or the connection is lost. The
 * promise resolves when the connection listens.
 */
export async function listenOn(
  checkOut: (broken: (error?: unknown) => void) => Promise<CheckedOut>,
  channel: string,
  { onMessage, onLost }: Listener,
  onError: (error: unknown) => void
): Promise<() => Promise<void>> {
  // The connection can be lost, released and notified in any order.
  const line: { over: boolean; begun: boolean; release?: CheckedOut['release'] | undefined } = { over: false, begun: false }
  const gone = (error?: unknown) => {
    if (error !== undefined) onError(error)
    if (end() && line.begun) onLost()
  }
  function end() {
    if (line.over) return false
    line.over = true
    line.release?.(false)
    return true
  }
  const { client, release } = await checkOut(gone)
  if (line.over) release(false)
  line.release = release
  try {
    client.on('end', gone)
    client.on('notification', (what) => {
      const notice = what as { readonly channel?: unknown; readonly payload?: string }
      if (!line.over && notice.channel === channel) onMessage(notice.payload ?? '')
    })
    await sendOn(client, `LISTEN "${channel}"`)
    if (line.over) throw new Error('postgres: the connection was lost before LISTEN completed.')
    line.begun = true
  } catch (error) {
    end()
    throw error
  }
  return async () => void end()
}
