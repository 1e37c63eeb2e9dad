const longestWaitMs = 500
// A turn of the event loop in which nothing happens takes about 0.01 ms.
const emptyTurnMs = 0.1
// A busy machine can stop this process between the last check and the end, so few connections may come at all.
const quietMs = 25

/**
 * Calls a function when no connection waits to be accepted, which would be reset, at the latest after half a second. Node.js accepts one in each turn
 * of the event loop. So when a turn has no new connection, none was waiting, and when nothing else happened in that turn, this was just now.
 *
 * @param accepted returns how many connections have been accepted
 */
export function whenNoneIsWaiting(accepted: () => number, stop: () => void): void {
  const endsAt = performance.now() + longestWaitMs
  let count = -1
  let quietSince = 0
  let turnedAt = 0
  const turn = () => {
    const now = performance.now()
    if (accepted() !== count) quietSince = now
    else if (now - quietSince >= quietMs && now - turnedAt < emptyTurnMs) return stop()
    if (now >= endsAt) return stop()
    count = accepted()
    turnedAt = now
    setImmediate(turn)
  }
  setImmediate(turn)
}
