import { describeOptions, integer, number, type SettingsOf } from '@concordat/plugin-options'

/** When a process refuses requests because it has too much to do. */
export const overloadOptions = describeOptions('rate-limiting', {
  /** How late the event loop may be all the time. While it is later, fewer requests are accepted at a time. */
  maxEventLoopDelayMs: number({ default: 50, min: 1, max: 60_000 }),
  /** The minimum number of requests in flight. With as many, requests are accepted however late the event loop is. */
  minInFlight: integer({ default: 50, min: 1, max: 1e6 }),
  /** The maximum number of requests in flight, for a process without delays, such as one whose requests wait for other services. */
  maxInFlight: integer({ default: 1000, min: 1, max: 1e6 })
})

/** The overload options with defaults applied. */
export type OverloadSettings = SettingsOf<(typeof overloadOptions)['members']>
