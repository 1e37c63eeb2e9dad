import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'

/** What a probe can use: the running service, and its address once it listens. */
interface Probe {
  readonly t: Test
  readonly app: FastifyInstance
  readonly send: (request: InjectOptions | string) => Promise<LightMyRequestResponse>
  readonly listen: () => Promise<string>
}

/** A plugin of other people, as a service would use it beside the preset. */
export interface Row {
  readonly name: string
  /** Registers the plugin and, where it has none of its own, routes that use it. */
  readonly plugin: (app: FastifyInstance) => Promise<unknown>
  /** Routes that use the plugin and are added after the preset, wherever the plugin itself is registered. */
  readonly routes?: ((app: FastifyInstance) => void) | undefined
  /** The keys of the option `outside` that declare the routes. */
  readonly outside?: readonly string[] | undefined
  /** Sends real requests. Called with public routes. */
  readonly probe: (probe: Probe) => Promise<void>
  /** The start error where the plugin cannot be registered before or after the preset; it names the remedy. */
  readonly refused?: { readonly before?: RegExp; readonly after?: RegExp } | undefined
  /** What a user must know. */
  readonly note?: string | undefined
}
