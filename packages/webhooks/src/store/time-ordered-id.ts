import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

// Random bytes are generated in advance: a call for each id takes a twentieth of the time of a delivery.
const randomBytes = Buffer.alloc(4096)
const random = Buffer.alloc(16)
let used = randomBytes.length
let latest = 0
let sequence = 0

/** Returns a UUID v7 that sorts after all UUIDs that this process created before, even within one millisecond. */
export function timeOrderedId(): string {
  if (used === randomBytes.length) {
    randomFillSync(randomBytes)
    used = 0
  }
  used += randomBytes.copy(random, 0, used, used + random.length)
  const now = Date.now()
  sequence = now > latest ? random.readUInt32BE() >>> 1 : sequence + 1
  latest = Math.max(latest, now)
  return v7({ random, msecs: latest, seq: sequence })
}
