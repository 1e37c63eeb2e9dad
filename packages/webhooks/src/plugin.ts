import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { contractOf, contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import { type Handler, queueGauges, type Stop } from '@concordat/work-queue'
import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { deliveryHandler } from './deliver/delivery-worker.ts'
import { probeHandler, wakeHandler } from './deliver/probes.ts'
import { receiverGauges } from './deliver/receiver-gauges.ts'
import { recoveryHandler } from './deliver/recovery.ts'
import { resultRecorder } from './deliver/result-recorder.ts'
import { verificationHandler } from './deliver/verification.ts'
import { makeEmission } from './emit/emission.ts'
import { defineQueues, deliveryQueue, orderedDeliveryQueue, recoveryQueue } from './emit/queues.ts'
import { webhooksErrors } from './errors.ts'
import { resolveOptions, type WebhooksOptions } from './options.ts'
import { observedSender } from './send/observed-sender.ts'
import { createSender } from './send/sender.ts'
import type { Delivery } from './store/delivery.ts'
import type { DisabledReason, Subscription } from './store/subscription.ts'
import { makeWebhooks, type Webhooks } from './subscribe/webhooks.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Emits events, manages subscriptions and sends deliveries again. */
    webhooks: Webhooks
  }
}

const failed = { name: 'concordat.webhook.failures', unit: '{delivery}', description: 'Deliveries that failed permanently.' }

/** Delivers each emitted event, signed and at least once, to every subscriber that may see it; failures are recorded (rules W1–W5). */
const webhooks: FastifyPluginAsync<WebhooksOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  requireKnownConfig(app, 'webhooks')
  contribute(app, 'errors', webhooksErrors)
  observeErrorHandlers(app)
  const sender = observedSender(createSender(settings), settings.observer)
  contribute(
    app,
    'gauges',
    queueGauges(settings.queue, () => [deliveryQueue, orderedDeliveryQueue])
  )
  contribute(app, 'gauges', receiverGauges(settings.store))
  const emission = makeEmission(settings)
  if (options.store === undefined) {
    app.log.warn('webhooks: undelivered events are in memory and are lost when the process ends. Set options.store and options.queue.')
  }
  if (settings.dangerouslyAllowLoopback) {
    app.log.warn('webhooks: options.dangerouslyAllowLoopback allows receivers on this machine. Use it for development only.')
  }
  await defineQueues(settings.queue)

  app.decorate('webhooks', makeWebhooks(settings, { emission, guard: sender.guard }))
  publish(app, { webhookEvents: (version) => app.webhooks.describe(version) })
  app.addHook('onReady', async () => {
    const onRevoked = contractOf(app, 'onSubjectRevoked')
    onRevoked?.(async (subject, owners) => {
      for (const owner of settings.ownersOf?.(subject) ?? owners) await app.webhooks.disableOwner(owner)
    })
  })
  if (settings.worker) {
    const stops: Stop[] = []
    sweepRegularly(app, 'webhooks: old deliveries were not removed', () => app.webhooks.removeOld())
    app.addHook('onReady', async () => void stops.push(...startWorkers()))
    // Before the last requests have ended: another process, or the next start, delivers the events that they emit.
    app.addHook('preClose', async () => {
      await Promise.all(stops.map(async (stop) => stop(settings.stopGraceSeconds)))
    })
  }
  app.addHook('onClose', async () => sender.close())

  function startWorkers() {
    const { queue, concurrency, concurrencyPerOwner: perKey, onDisabled = logDisabled } = settings
    const tools = { sender, recordResult: resultRecorder(settings, emission, onDisabled), onFailed: logFailed }
    const deliver = deliveryHandler(settings, tools)
    // By the member that only the payload of the kind has.
    const handlers: Record<string, Handler> = {
      deliveryId: deliver,
      subscriptionId: verificationHandler(settings, tools),
      probed: probeHandler(settings, emission),
      recovered: wakeHandler(settings)
    }
    const send: Handler = async (claim) => handlers[Object.keys(claim.payload as object)[0] as keyof typeof handlers]!(claim)
    return [
      queue.work(deliveryQueue, send, { concurrency, perKey }),
      queue.work(orderedDeliveryQueue, deliver, { concurrency }),
      queue.work(recoveryQueue, recoveryHandler(settings, emission), { concurrency: 4, perKey: 1 })
    ]
  }

  function logDisabled({ id, tenant }: Subscription, reason: DisabledReason) {
    app.log.warn({ subscriptionId: id, tenant, reason }, 'webhooks: a subscription was disabled')
  }

  function logFailed({ id, subscriptionId }: Delivery) {
    settings.observer?.count(failed)
    app.log.warn({ deliveryId: id, subscriptionId }, 'webhooks: a delivery has failed permanently')
  }
}

const plugin: FastifyPluginAsync<WebhooksOptions> = fp(webhooks, { name: '@concordat/webhooks', fastify: '^5.12.1' })
export default plugin
