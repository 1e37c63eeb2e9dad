import { requireKnownNames, weaknessOf } from '@concordat/plugin-options'
import { requireKnownConfig } from '@concordat/route-lints'
import type { FastifyContextConfig, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { readKey } from '../sign/secret.ts'
import { inProgress, payloadInvalid } from './errors.ts'
import { memoryReplayStore, type ReplayStore } from './replay-store.ts'
import { type VerifyOptions, verifyWebhook } from './verify-webhook.ts'

/** A webhook that was verified and has not been processed before. */
export interface WebhookEvent<Data = unknown> {
  /** `webhook-id`: the same for each attempt to deliver this event. */
  readonly id: string
  readonly type: string
  /** The time of the event as the sender wrote it, in ISO 8601. */
  readonly timestamp?: string | undefined
  readonly data: Data
}

/** Options of {@link createReceiver}. */
export interface ReceiverOptions extends VerifyOptions {
  /**
   * The path that webhooks are posted to.
   * @default '/'
   */
  readonly path?: string | undefined
  /**
   * Processes an event. When it resolves, the response is 204 and the event counts as processed. An error that it throws becomes the
   * response, and the sender tries again. An `ApiError` with the status code 410 asks the sender to end the subscription.
   */
  readonly onEvent: (event: WebhookEvent, request: FastifyRequest) => unknown
  /**
   * Stores the ids of processed events.
   * @default in memory, the last 100,000 ids of four days
   */
  readonly store?: ReplayStore | undefined
  /** `config` of the route, for other plugins. */
  readonly routeConfig?: FastifyContextConfig | undefined
}

/**
 * Creates a plugin that receives webhooks according to Standard Webhooks 1.0: it verifies the raw body of each request and processes each event
 * once. The plugin has its own body parser and does not change the parsers of other routes. Throws a `TypeError` with a one-line message for
 * invalid options.
 */
export function createReceiver(options: ReceiverOptions): FastifyPluginAsync {
  requireKnownNames('webhooks', options, {
    path: true,
    onEvent: true,
    store: true,
    routeConfig: true,
    keys: true,
    toleranceSeconds: true,
    now: true
  })
  const { path = '/', onEvent, store = memoryReplayStore(), routeConfig = {}, ...verification } = options
  const { keys } = verification
  if (!Array.isArray(keys) || keys.length === 0)
    throw new TypeError('webhooks: options.keys is empty. Add the secrets that webhooks are signed with.')
  for (const [index, key] of keys.entries()) requireStrongKey(key, `options.keys[${index}]`)

  // Not wrapped in fastify-plugin: the parser must stay encapsulated.
  return async function receiver(app: FastifyInstance) {
    requireKnownConfig(app, 'webhooks')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
    app.post(path, { config: routeConfig, schema: { response: { 204: { type: 'null' } } } }, receive)
  }

  async function receive(request: FastifyRequest, reply: FastifyReply) {
    const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
    const { id } = verifyWebhook(request.headers, body, verification)
    const event = { ...payloadOf(body), id }
    const state = await store.claim(id)
    if (state === 'working') throw inProgress()
    if (state === 'new') await workOn(event, request)
    return reply.code(204).send()
  }

  async function workOn(event: WebhookEvent, request: FastifyRequest) {
    try {
      await onEvent(event, request)
    } catch (error) {
      await store.release(event.id)
      throw error
    }
    await store.finish(event.id)
  }
}

function payloadOf(body: Buffer): Omit<WebhookEvent, 'id'> {
  let payload: unknown
  try {
    payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw payloadInvalid(error)
  }
  if (typeof payload !== 'object' || payload === null || !('type' in payload) || typeof payload.type !== 'string') throw payloadInvalid()
  return payload as Omit<WebhookEvent, 'id'>
}

// The sender chose the secret. Standard Webhooks 1.0 asks for at least 24 bytes.
function requireStrongKey(text: string, path: string) {
  const { kind, key } = readKey(text)
  if (kind === 'private')
    throw new TypeError('webhooks: options.keys must not contain a private key ("whsk_"). Use the public key ("whpk_") of the pair.')
  const weakness = kind === 'secret' ? weaknessOf(key.export(), 24) : undefined
  if (weakness !== undefined) throw new TypeError(`webhooks: ${path} ${weakness}. Let the sender create a new secret, and use that one.`)
}
