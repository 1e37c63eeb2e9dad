import { describedFetch, webhookReceiver } from '@concordat/testing'
import t from 'tap'
import { signIn, startChild } from './child.ts'
import { environmentOf, freshDatabase } from './fresh-database.ts'

t.test('a service that is killed between the commit and the delivery delivers after its next start', async (t) => {
  // The receiver never responds to the process that is killed.
  const { url, next, trust } = await webhookReceiver(t, { respond: (number) => (number === 1 ? undefined : 204) })
  const environment = { DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true', ...environmentOf(await freshDatabase(t)) }
  const child = startChild(t, environment)
  const address = await child.address
  const post = async (where: string, body: object) => {
    const headers = { ...(await signIn(address, 'ada@example.com')), 'content-type': 'application/json', 'idempotency-key': where.slice(4) }
    return (await (await describedFetch(address + where, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
      data: { id: string }
    }
  }
  const { data: subscription } = (await post('/v1/webhook-subscriptions', { url, eventTypes: ['order.created'] })) as {
    data: { id: string; secret: string }
  }
  trust(subscription.secret)
  const { data: order } = await post('/v1/orders', { items: [{ productId: '0191106c-03c0-76ff-b1de-b7ec6c68a6a1', quantity: 1 }] })
  const lost = await next()
  child.process.kill('SIGKILL')
  await child.ended
  const again = startChild(t, environment)
  await again.address
  const arrived = await next()
  t.strictSame([arrived.id, arrived.event.data.id], [lost.id, order.id])
  again.process.kill('SIGTERM')
  t.equal((await again.ended).code, 0)
})
