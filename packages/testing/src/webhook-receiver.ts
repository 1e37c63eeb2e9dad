import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { callback, describeOptions, type OptionsOf } from '@concordat/plugin-kit/options'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { generate } from 'selfsigned'
import { atEndOf, type EndOfTest } from './cleanups.ts'
import type { ReceivedResponse, TestClient } from './test-client.ts'

/** An attempt to deliver an event, as it was received. */
export interface Attempt {
  /** `webhook-id`: the same for each attempt to deliver an event. */
  readonly id: string
  readonly headers: IncomingHttpHeaders
  /** The body, of which `headers` have the signature. */
  readonly text: string
  /** The body as a value: `type`, `timestamp` and `data`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly event: any
}

/** The description of {@link WebhookReceiverOptions}. @readme */
export const webhookReceiverOptions = describeOptions('testing', {
  /** Returns the status code of the response to an attempt, or `undefined` to never respond. The first attempt has the number 1. By default 204. */
  respond: callback<(number: number, attempt: Attempt) => number | undefined>('returns a status code')
})

/** Options of {@link webhookReceiver}. */
export interface WebhookReceiverOptions extends OptionsOf<typeof webhookReceiverOptions> {}

/** A receiver of webhooks on this machine. */
export interface WebhookReceiver {
  /** The https URL to subscribe with. */
  readonly url: string
  /** All attempts so far, except the pings that verify the URL of a subscription. */
  readonly attempts: readonly Attempt[]
  /**
   * Waits for the next attempt that has not been returned yet. Rejects when its signature is not that of a subscription or a trusted key. Only the
   * timeout of the test ends the wait.
   */
  readonly next: () => Promise<Attempt>
  /**
   * Posts a subscription with the URL of the receiver and these members, such as `{ eventTypes: ['order.created'] }`, and trusts the `secret` of the
   * response, which it returns.
   */
  readonly subscribe: (client: TestClient, path: string, members: object) => Promise<ReceivedResponse>
  /** Trusts a `whsec_` secret or a `whpk_` public key too. */
  readonly trust: (key: string) => void
  /** The private key and the certificate of the receiver, in PEM, for a proxy in front of it. */
  readonly certificate: { readonly key: string; readonly cert: string }
}

let generated: Promise<{ readonly private: string; readonly cert: string }> | undefined

/**
 * Starts an https receiver of webhooks with its own certificate on `localhost`, and stops it at the end of the test. It responds with 204 to the ping
 * that verifies the URL of each subscription. The service must allow it: `dangerouslyAllowLoopback: 'any-certificate'`.
 *
 * @example
 * const receiver = await webhookReceiver(t)
 * await receiver.subscribe(ada, '/v1/webhook-subscriptions', { eventTypes: ['order.created'] })
 * const { event } = await receiver.next()
 */
export async function webhookReceiver(t: EndOfTest, options: WebhookReceiverOptions = {}): Promise<WebhookReceiver> {
  const { respond = () => 204 } = webhookReceiverOptions.read(options)
  generated ??= generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' })
  const { private: key, cert } = await generated
  const attempts: Attempt[] = []
  const keys: string[] = []
  const verified = new Set<unknown>()
  let read = 0
  let arrival = Promise.withResolvers<void>()
  const server = createServer({ key, cert }, (request, response) => {
    // A service that was killed has not sent all of its request.
    receive(request, response).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  atEndOf(t, async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}/hooks`
  const trust = (trusted: string) => void keys.push(trusted)

  async function receive(request: IncomingMessage, response: ServerResponse) {
    const text = Buffer.concat(await request.toArray()).toString()
    const { headers } = request
    const event = JSON.parse(text)
    if (event.type === 'webhook.ping' && !verified.has(event.data.subscriptionId)) {
      verified.add(event.data.subscriptionId)
      response.writeHead(204).end()
      return
    }
    const attempt = { id: String(headers['webhook-id']), headers, text, event }
    attempts.push(attempt)
    arrival.resolve()
    arrival = Promise.withResolvers()
    const status = respond(attempts.length, attempt)
    if (status !== undefined) response.writeHead(status).end()
  }

  return {
    url,
    attempts,
    trust,
    certificate: { key, cert },
    async next() {
      while (attempts.length === read) await arrival.promise
      read += 1
      const attempt = attempts[read - 1] as Attempt
      verify(attempt, keys)
      return attempt
    },
    async subscribe(client, path, members) {
      const created = await client.post(path, { url, ...members })
      const secret = created.body?.data?.secret
      if (typeof secret !== 'string')
        throw new Error(`testing: POST ${path} returns ${created.status} without a secret. ${JSON.stringify(created.body?.error ?? {})}`)
      trust(secret)
      return created
    }
  }
}

function verify({ headers, text, event }: Attempt, keys: readonly string[]) {
  try {
    verifyWebhook(headers, text, { keys })
  } catch (cause) {
    const remedy = keys.length === 0 ? ' Subscribe with receiver.subscribe(), or call receiver.trust(secret).' : ''
    throw new Error(`testing: the webhook ${event.type} is not signed with a trusted key: ${(cause as Error).message}${remedy}`, { cause })
  }
}
