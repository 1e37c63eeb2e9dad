import type { FastifyInstance } from 'fastify'
import { checkAtStart, waiveAtStart } from '../findings/findings.ts'
import { hasEnded, isServiceWaiver, reasonsOf, requireWaivers, type ServiceWaivers } from '../findings/waivers.ts'
import { contributions } from './wiring.ts'

// The rules of caching, idempotency and security protect data, so each route that departs from one gives its own reason.
const protecting = /^[CIU]\d/

/**
 * Waives rules for all routes of a service until a day, so that an API with clients can move to the rules. `where` is the beginning of each message:
 * `versioning: options.waivers`. Throws a `TypeError` of one line for a waiver without a reason or a day; a rule that no plugin checks, and one of
 * caching, idempotency or security (C, I, U), which only a route can waive, stop the start.
 * After the day the rules stay waived, so that a restart never fails, and each start warns.
 */
export function waiveForService(app: FastifyInstance, where: string, waivers: ServiceWaivers): void {
  const entries = Object.entries(waivers)
  for (const [id, waiver] of entries)
    if (!isServiceWaiver(waiver))
      throw new TypeError(
        `${where} must give ${id} a reason and its last day: { ${id}: { reason: 'clients read the old names', until: '2027-06-30' } }.`
      )
  if (entries.length === 0) return
  waiveAtStart(app, waivers)
  checkAtStart(app, requireKnownRules)
  app.addHook('onReady', async () => {
    for (const [id, waiver] of entries)
      if (hasEnded(waiver))
        app.log.warn(
          `${where} waives ${id} until ${waiver.until}, which is over. Follow the rule, or set a later day. Until then concordat lint fails.`
        )
  })

  function requireKnownRules() {
    const known = contributions(app, 'rules').flat()
    requireWaivers(
      where,
      reasonsOf(waivers),
      known.filter((id) => !protecting.test(id))
    )
  }
}
