import { optionChecks } from '@concordat/plugin-options'

/** When a process refuses requests because it has too much to do. */
export interface OverloadOptions {
  /**
   * How late the event loop may be all the time. While it is later, fewer requests are accepted at a time.
   * @default 50
   */
  readonly maxEventLoopDelayMs?: number | undefined
  /**
   * The minimum number of requests in flight. With as many, requests are accepted however late the event loop is.
   * @default 50
   */
  readonly minInFlight?: number | undefined
  /**
   * The maximum number of requests in flight, for a process without delays, such as one whose requests wait for other services.
   * @default 1000
   */
  readonly maxInFlight?: number | undefined
}

/** The overload options with defaults applied. */
export type OverloadSettings = { readonly [Name in keyof OverloadOptions]-?: number }

const { integer, number } = optionChecks('rate-limiting')

/** Returns the overload options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function requireOverload({ maxEventLoopDelayMs = 50, minInFlight = 50, maxInFlight = 1000 }: OverloadOptions): OverloadSettings {
  integer('options.overload.minInFlight', minInFlight, 1, 1e6)
  return {
    maxEventLoopDelayMs: number('options.overload.maxEventLoopDelayMs', maxEventLoopDelayMs, 1, 60_000),
    minInFlight,
    maxInFlight: integer('options.overload.maxInFlight', maxInFlight, minInFlight, 1e6)
  }
}
