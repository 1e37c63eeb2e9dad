import { callback, describeOptions, instance, type OptionsOf, required, value, weaknessOf } from '@concordat/plugin-kit/options'
import { requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyContextConfig, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Key } from '../sign/secret.ts'
import { errorList } from './errors.ts'
import { memoryReplayStore, type ReplayStore } from './replay-store.ts'
import { readVerifyKeys, verifiedHeaders, verifyOptions } from './verify-webhook.ts'

/** A webhook that was verified and has not been processed before. */
export interface WebhookEvent<Data = unknown> {
  /** `webhook-id`: the same for each attempt to deliver this event. */
  readonly id: string
  readonly type: string
  /** The time of the event as the sender wrote it, in ISO 8601. */
  readonly timestamp?: string | undefined
  readonly data: Data
}

/** The description of {@link ReceiverOptions}. */
const receiverOptions = describeOptions('webhooks', {
  ...verifyOptions.members,
  /** The path that webhooks are posted to. */
  path: value<string>({ default: '/' }),
  /**
   * Processes an event. When it resolves, the response is 204 and the event counts as processed. An error becomes the response, and the sender
   * tries again; one with the status code 410 ends the subscription.
   */
  onEvent: required(callback<(event: WebhookEvent, request: FastifyRequest) => unknown>('processes an event')),
  /** The store of the ids of processed events. By default in memory: the last 100,000 of four days. */
  store: instance<ReplayStore>(['claim', 'finish', 'release'], 'ReplayStore, for example memoryReplayStore()'),
  /** `config` of the route, for other plugins. */
  routeConfig: value<FastifyContextConfig>({ default: {} })
})

/** Options of {@link createReceiver}. */
export interface ReceiverOptions extends OptionsOf<typeof receiverOptions> {}

/** Creates a plugin that verifies the raw body of each request (Standard Webhooks 1.0) and processes each event once. Its body parser is its own. */
export function createReceiver(options: ReceiverOptions): FastifyPluginAsync {
  const { keys: texts, path, onEvent, store = memoryReplayStore(), routeConfig } = receiverOptions.read(options)
  const keys = readVerifyKeys(texts)
  keys.forEach(requireStrength)

  // Not wrapped in fastify-plugin: the parser must stay encapsulated.
  return async function receiver(app: FastifyInstance) {
    requireKnownConfig(app, 'webhooks')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) => body)
    app.post(path, { config: routeConfig, schema: { response: { 204: { type: 'null' } } } }, receive)
  }

  async function receive(request: FastifyRequest, reply: FastifyReply) {
    const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
    const { id } = verifiedHeaders(request.headers, body, keys)
    const event = { ...payloadOf(body), id }
    const state = await store.claim(id)
    if (state === 'working') throw errorList.create('WEBHOOK_IN_PROGRESS')
    if (state === 'new') {
      try {
        await onEvent(event, request)
      } catch (error) {
        await store.release(id)
        throw error
      }
      await store.finish(id)
    }
    return reply.code(204).send()
  }
}

function payloadOf(body: Buffer): Omit<WebhookEvent, 'id'> {
  let payload: unknown
  try {
    payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw errorList.create('WEBHOOK_PAYLOAD_INVALID', { cause: error })
  }
  if (typeof payload !== 'object' || payload === null || !('type' in payload) || typeof payload.type !== 'string')
    throw errorList.create('WEBHOOK_PAYLOAD_INVALID')
  return payload as Omit<WebhookEvent, 'id'>
}

// The sender chose the secret. Standard Webhooks 1.0 asks for at least 24 bytes.
function requireStrength({ kind, key }: Key, index: number) {
  const weakness = kind === 'secret' ? weaknessOf(key.export(), 24) : undefined
  if (weakness !== undefined)
    throw new TypeError(`webhooks: options.keys[${index}] ${weakness}. Let the sender create a new secret, and use that one.`)
}
