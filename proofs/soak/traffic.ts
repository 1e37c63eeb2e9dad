// The mix of requests at a fixed rate, however long responses take.
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.ts'
import { exportOrders, makeMistake, readProduct, readProducts, refresh, signInAgain, walkOrders } from './reads.ts'
import { leave, readSlowly, sendBytes, sendSlowly } from './rude.ts'
import { changeSubscription } from './subscriptions.ts'
import { pick, type World } from './world.ts'
import { advanceOrder, cancelOrder, changeItem, changeNote, changeProduct, placeBatch, placeOrder } from './writes.ts'

type Operation = (world: World, client: Client) => Promise<void>

/** Operations of customers and of the staff, with how often each occurs in a hundred. */
const ofCustomers: readonly (readonly [Operation, number])[] = [
  [readProduct, 32],
  [readProducts, 10],
  [walkOrders, 6],
  [placeOrder, 14],
  [changeNote, 7],
  [changeItem, 4],
  [cancelOrder, 3],
  [placeBatch, 2],
  [exportOrders, 1],
  [signInAgain, 0.7],
  [refresh, 2],
  [makeMistake, 6],
  [sendBytes, 2],
  [sendSlowly, 0.3],
  [readSlowly, 0.3],
  [leave, 0.5],
  [changeSubscription, 0.2]
]
const ofStaff: readonly (readonly [Operation, number])[] = [
  [advanceOrder, 5],
  [changeProduct, 4]
]
const all = [...ofCustomers.map((one) => ({ one, isStaff: false })), ...ofStaff.map((one) => ({ one, isStaff: true }))]
const total = all.reduce((sum, { one }) => sum + one[1], 0)
const maxUnderWay = 400

/** Sends operations until the signal. Resolves when all of them have ended. */
export async function sendTraffic(world: World, perSecond: number, signal: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>()
  let [sent, left] = [0, 0]
  const begin = performance.now()
  while (!signal.aborted) {
    const due = ((performance.now() - begin) / 1000) * perSecond
    for (; sent + left < due; ) {
      if (underWay.size >= maxUnderWay) {
        left += 1
        continue
      }
      sent += 1
      const [operation, client] = choose(world)
      const running: Promise<void> = operation(world, client)
        .catch((error: unknown) => world.evidence.fail('the soak itself has no errors', String((error as Error).stack)))
        .finally(() => underWay.delete(running))
      underWay.add(running)
    }
    await delay(20)
  }
  world.recorder.notes.push(`${sent} operations at ${perSecond} a second; ${left} were left out because ${maxUnderWay} were under way.`)
  await Promise.all(underWay)
}

function choose(world: World): [Operation, Client] {
  let place = world.random() * total
  for (const { one, isStaff } of all) {
    place -= one[1]
    if (place < 0) return [one[0], pick(world, isStaff ? world.staff : world.customers) as Client]
  }
  return [readProduct, world.customers[0] as Client]
}
