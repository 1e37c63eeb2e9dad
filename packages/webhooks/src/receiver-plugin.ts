import type { FastifyContextConfig, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { inProgress, payloadInvalid } from './receiver-errors.ts'
import { memoryReplayStore, type ReplayStore } from './replay-store.ts'
import { readKey } from './secret.ts'
import { type VerifyOptions, verifyWebhook } from './verify-webhook.ts'

/** A webhook that was verified and not seen before. */
export interface WebhookEvent<Data = unknown> {
  /** `webhook-id`: the same for each attempt to deliver this event. */
  readonly id: string
  readonly type: string
  /** When it happened, as the sender wrote it: ISO 8601. */
  readonly timestamp?: string
  readonly data: Data
}

/** What a {@link createReceiver} takes, and what it does with it. */
export interface ReceiverOptions extends VerifyOptions {
  /**
   * Where webhooks are posted.
   * @default '/'
   */
  readonly path?: string | undefined
  /**
   * Works on an event. When it has resolved, the answer is 204 and the event counts as seen; what it throws is the answer, and the sender
   * tries again. An `ApiError` with the status 410 asks the sender to end the subscription.
   */
  readonly onEvent: (event: WebhookEvent, request: FastifyRequest) => unknown
  /**
   * Which events were seen.
   * @default in memory, the last 100,000 of four days
   */
  readonly replays?: ReplayStore | undefined
  /** `config` of the route, for other plugins. */
  readonly routeConfig?: FastifyContextConfig | undefined
}

/**
 * Makes a plugin that receives webhooks by Standard Webhooks 1.0: each is verified on its raw bytes, and each event is worked on once. Its
 * body parser is its own: other routes keep theirs. Throws a `TypeError` of one line for options that make no sense.
 */
export function createReceiver(options: ReceiverOptions): FastifyPluginAsync {
  const { path = '/', onEvent, replays = memoryReplayStore(), routeConfig = {}, keys } = options
  if (!Array.isArray(keys) || keys.length === 0)
    throw new TypeError('webhooks: keys is empty. Give the secrets that webhooks are signed with.')
  for (const key of keys)
    if (readKey(key).kind === 'private') throw new TypeError('webhooks: keys has a "whsk_". Give the "whpk_" of the pair.')

  // Not sealed by fastify-plugin: the parser must stay inside.
  return async function receiver(app: FastifyInstance) {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
    app.post(path, { config: routeConfig, schema: { response: { 204: { type: 'null' } } } }, receive)
  }

  async function receive(request: FastifyRequest, reply: FastifyReply) {
    const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
    const { id } = verifyWebhook(request.headers, body, options)
    const event = { ...payloadOf(body), id }
    const state = await replays.claim(id)
    if (state === 'working') throw inProgress()
    if (state === 'new') await workOn(event, request)
    return reply.code(204).send()
  }

  async function workOn(event: WebhookEvent, request: FastifyRequest) {
    try {
      await onEvent(event, request)
    } catch (error) {
      await replays.release(event.id)
      throw error
    }
    await replays.finish(event.id)
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
