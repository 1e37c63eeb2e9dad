import { measureCalls } from '@concordat/plugin-kit/observer'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { contractOf, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { type AuditTrailOptions, auditTrailOptions } from './options.ts'
import { RecordQueue } from './record-queue.ts'
import { recordRoutes } from './recorded-routes.ts'
import { Refusals } from './refusals.ts'

/** Records each request that can change something, in the transaction of the change if there is one. Register it before the routes. */
const auditTrail: FastifyPluginAsync<AuditTrailOptions> = async (app, options) => {
  const { store } = auditTrailOptions.readPlugin(options)
  const observer = contractOf(app, 'observer')
  const transactions = contractOf(app, 'transactions')
  const measured = measureCalls(observer, 'auditTrail', store)
  const queue = new RecordQueue(measured, observer, app.log)
  const refusals = new Refusals(
    (record, client) => queue.add(record, client),
    () => queue.lose([{ outcome: 'refused' }], 'queueFull')
  )

  requireKnownConfig(app, 'audit-trail')
  recordRoutes(app, { store: measured, transactions, observer, queue, refusals })
  app.addHook('onReady', requireOrder)
  app.addHook('onClose', () => {
    refusals.end(true)
    return queue.close()
  })
  const sweep = (maximum: number) => {
    // Those of the minute before, also when there are no requests.
    refusals.end()
    return measured.sweep?.(Date.now(), maximum) ?? 0
  }
  sweepRegularly(app, 'audit-trail: records beyond the retention were not deleted', sweep)

  async function requireOrder() {
    if (contractOf(app, 'transactions') === transactions) return
    throw new Error('audit-trail: the unit of work must be registered before the audit trail. Register it earlier.')
  }
}

const plugin: FastifyPluginAsync<AuditTrailOptions> = fp(auditTrail, { name: '@concordat/audit-trail', fastify: '^5.12.1' })
export default plugin
