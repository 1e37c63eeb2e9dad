import { reportBrokenRules, requireWaivers, type ServiceWaivers, serviceWaiversOf } from '@concordat/plugin-kit/findings'
import { contribute, waiveForService } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const where = 'versioning: config.waivers of GET /v1/orders'

t.test('accepts waivers of known rules with a reason', async (t) => {
  t.equal(requireWaivers(where, {}, []), undefined)
  t.equal(requireWaivers(where, { P1: 'an old client', C3: 'public data' }, ['P1', 'C3']), undefined)
})

t.test('throws for an unknown rule, and lists the known ones', async (t) => {
  const message = `${where} waives "P9", which is not a known rule. Use one of P1, C3.`
  t.throws(() => requireWaivers(where, { P1: 'an old client', P9: 'why' }, ['P1', 'C3']), { name: 'TypeError', message })
})

t.test('throws for a waiver without a reason', async (t) => {
  for (const reason of ['', '  ', undefined, true]) {
    const message = `${where} waives P1 without a reason. Add the reason: { P1: 'why it does not apply' }.`
    t.throws(() => requireWaivers(where, { P1: reason }, ['P1']), { name: 'TypeError', message })
  }
})

const reason = 'Clients read the old names.'
const until = '2027-06-30'
const service = 'versioning: options.waivers'

/** Starts a server with the rules P1 and P2, which its route breaks, and returns its warnings. */
async function start(t: Test, waivers: ServiceWaivers, time = '2027-01-01T00:00:00Z', byRouteOnly = {}) {
  movedDate(t, Date.parse(time))
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  contribute(app, 'rules', ['P1', 'P2', 'C3', 'I1', 'U10'])
  waiveForService(app, service, waivers)
  app.addHook('onRoute', function (route) {
    const broken = [{ id: 'P1' }, { id: 'P2', ...byRouteOnly }]
    reportBrokenRules(this, route, broken, (left) => new Error(left.map(({ id }) => id).join()))
  })
  // In a child, where the waivers of the service apply as well.
  await app.register(async (child) => void child.get('/order', async () => ''))
  await app.ready()
  return lines
}

t.test('a service waives rules for all routes until a day, and afterwards each start warns', async (t) => {
  const both = { P1: { reason, until }, P2: { reason, until: '2027-12-31' } }
  await t.rejects(start(t, {}), { message: 'P1,P2' })
  await t.rejects(start(t, { P1: { reason, until } }), { message: 'P2' })
  t.strictSame(await start(t, both), [])
  t.strictSame(await start(t, both, '2027-06-30T23:59:59Z'), [])
  t.strictSame(await start(t, both, '2027-07-01T00:00:00Z'), [
    `${service} waives P1 until 2027-06-30, which is over. Follow the rule, or set a later day. Until then concordat lint fails.`
  ])
  t.equal((await start(t, both, '2028-01-01T00:00:00Z')).length, 2)
  t.strictSame(serviceWaiversOf(Fastify()), {})
  await t.rejects(start(t, both, undefined, { byRouteOnly: true }), { message: 'P2' })
})

t.test('a waiver of a service needs a known rule, a reason and a day of the calendar', async (t) => {
  const wrong = [null, 'Old.', {}, { reason }, { until }, { reason: ' ', until }, { reason: 1, until }]
  for (const day of ['', '2027', '30.6.2027', '2027-02-30', '2027-13-01', '2027-06-30T00:00:00Z', 1, new Date()])
    wrong.push({ reason, until: day } as never)
  for (const waiver of wrong)
    await t.rejects(
      start(t, { P1: waiver as never }),
      { name: 'TypeError', message: `${service} must give P1 a reason and its last day: ` },
      JSON.stringify(waiver)
    )
  // Only a route can waive what protects data.
  for (const id of ['P9', 'C3', 'I1', 'U10']) {
    const unknown = `${service} waives "${id}", which is not a known rule. Use one of P1, P2.`
    await t.rejects(start(t, { [id]: { reason, until }, P1: { reason, until }, P2: { reason, until } }), {
      name: 'TypeError',
      message: unknown
    })
  }
})
