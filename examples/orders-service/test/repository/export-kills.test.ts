import { setTimeout as delay } from 'node:timers/promises'
import { scaled } from '@concordat/test-harness/scale'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { type Child, signIn, startChild } from './child.ts'
import { environmentOf, freshDatabase } from './fresh-database.ts'

const orderCount = 3000
// Of a job, by default.
const maxAttempts = 3

/** The state of an export when its process is killed. */
type Place = 'sent' | 'accepted' | 'begun' | 'halfway' | 'ending' | 'cancelled'
/** The states that exports reach, one after another, before each kill. */
const rounds: readonly (readonly Place[])[] = [['begun', 'accepted', 'cancelled'], ['halfway', 'sent'], ['ending']]
const kills = scaled(rounds.length, 60)

t.test('a service that is killed with exports in each state finishes each export once [J1] [J2]', async (t) => {
  const env = { ...environmentOf(await freshDatabase(t)), SEED_ORDERS: String(orderCount), RATE_LIMIT: 'off' }
  /** The kills before each export. */
  const accepted = new Map<string, number>()
  const cancelled = new Set<string>()
  for (let killed = 0; killed < kills; killed += 1) {
    const child = startChild(t, env)
    const service = await serviceOf(child)
    for (const place of rounds[killed % rounds.length] ?? []) await reach(service, place, killed)
    child.process.kill('SIGKILL')
    await child.ended
  }
  const service = await serviceOf(startChild(t, env))
  const since = performance.now()
  const wanted = await service.list()
  for (const id of accepted.keys()) t.ok(wanted.includes(id), 'an accepted export exists')
  const ends = await Promise.all(wanted.map((id) => service.over(id)))
  const seconds = (performance.now() - since) / 1000
  t.comment(
    `${kills} kills, ${wanted.length} exports, ${accepted.size} known as accepted; all finished ${seconds.toFixed(1)} s after the start`
  )
  for (const [index, id] of wanted.entries()) {
    const { status, file } = ends[index] as (typeof ends)[number]
    // On a slow machine, a lease ends before the next kill, and the same export is killed again.
    if (status === 'failed' && kills - (accepted.get(id) ?? 0) >= maxAttempts) continue
    t.equal(status, cancelled.has(id) ? 'cancelled' : 'completed')
    if (cancelled.has(id)) continue
    const orders = ((await service.get(file)).data as { id: string }[]).map((order) => order.id)
    t.strictSame([orders.length, new Set(orders).size], [orderCount, orderCount], 'each order once')
  }

  async function reach(one: Service, place: Place, turn: number) {
    if (place === 'sent') {
      // The response is not awaited: the kill may happen at any time between its first byte and the start of the worker.
      one.start().catch(() => {})
      return delay((turn * 7) % 40)
    }
    const id = await one.start()
    accepted.set(id, turn)
    if (place === 'accepted') return
    if (place === 'cancelled') {
      t.equal(await one.cancel(id), 204, 'cancelled while it waits in the queue')
      cancelled.add(id)
      return
    }
    for (;;) {
      const { status, progress = 100 } = await one.record(id)
      if (status !== 'queued' && progress >= { begun: 0, halfway: 50, ending: 90 }[place]) return
    }
  }
})

type Service = Awaited<ReturnType<typeof serviceOf>>

async function serviceOf(child: Child) {
  const address = await child.address
  const authorization = await signIn(address)
  const headers = { ...authorization, 'content-type': 'application/json' }
  // All exports are read at the same time, and more requests than a busy process accepts.
  const get = async (url: string, more: Record<string, string> = {}): Promise<{ data: unknown }> => {
    const response = await describedFetch(new URL(url, address), { headers: { ...headers, ...more } })
    if (response.status !== 503) return (await response.json()) as { data: unknown }
    await delay(Number(response.headers.get('retry-after')) * 1000)
    return get(url, more)
  }
  const record = async (id: string, more?: Record<string, string>) =>
    (await get(`/v1/order-exports/${id}`, more)).data as { status: string; progress?: number; _links: { href: string }[] }
  return {
    get,
    record,
    async start() {
      const response = await describedFetch(`${address}/v1/order-exports`, { method: 'POST', headers, body: '{}' })
      return ((await response.json()) as { data: { jobId: string } }).data.jobId
    },
    cancel: async (id: string) =>
      (await describedFetch(`${address}/v1/order-exports/${id}`, { method: 'DELETE', headers: authorization })).status,
    async list() {
      const ids: string[] = []
      for (let page = 1; ids.length === (page - 1) * 100; page += 1) {
        const { data } = await get(`/v1/order-exports?perPage=100&page=${page}`)
        ids.push(...(data as { jobId: string }[]).map(({ jobId }) => jobId))
      }
      return ids
    },
    async over(id: string) {
      for (;;) {
        const { status, _links } = await record(id, { prefer: 'wait=5' })
        if (['completed', 'failed', 'cancelled'].includes(status)) return { status, file: new URL(_links[1]?.href ?? address).pathname }
      }
    }
  }
}
