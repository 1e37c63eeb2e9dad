import { requireWaivers } from '@concordat/plugin-kit/findings'
import t from 'tap'

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
