import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serviceOverloaded } from './errors.ts'

/** The thresholds above which requests get 503 `SERVICE_OVERLOADED`. Each is measured once a second; at least one is required. */
export interface OverloadOptions {
  /** The average delay of the event loop. 1000 means that every response waits for one second of other work. */
  readonly eventLoopDelayMilliseconds?: number | undefined
  /** The part of the last second in which the event loop was busy, above 0 and up to 1. A busy process is not necessarily slow. */
  readonly eventLoopUtilization?: number | undefined
  /** The used size of V8's heap. */
  readonly heapUsedBytes?: number | undefined
  /** The resident memory of the whole process. */
  readonly rssBytes?: number | undefined
  /**
   * The value of `Retry-After`.
   * @default 10
   */
  readonly retryAfterSeconds?: number | undefined
}

const thresholds = ['eventLoopDelayMilliseconds', 'eventLoopUtilization', 'heapUsedBytes', 'rssBytes'] as const

/** Returns the checked options. Throws a `TypeError` of one line for invalid options. */
export function requireOverload(options: OverloadOptions): OverloadOptions {
  const { retryAfterSeconds = 10 } = options
  const given = thresholds.filter((name) => options[name] !== undefined)
  if (given.length === 0) {
    throw new TypeError(
      'rate-limiting: options.overload has no threshold. Set one, such as { eventLoopDelayMilliseconds: 1000 }, or remove overload.'
    )
  }
  for (const name of given) {
    const value = Number(options[name])
    if (!Number.isFinite(value) || value <= 0 || (name === 'eventLoopUtilization' && value > 1)) {
      const range = name === 'eventLoopUtilization' ? 'above 0 and up to 1' : 'above 0'
      throw new TypeError(`rate-limiting: options.overload.${name} must be a number ${range}. Received ${value}.`)
    }
  }
  if (!Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 1) {
    throw new TypeError(
      `rate-limiting: options.overload.retryAfterSeconds is ${retryAfterSeconds}. Use a whole number of seconds, 1 or more.`
    )
  }
  return { ...options, retryAfterSeconds }
}

/** Responds with 503 to every request that is not exempt while a metric exceeds its threshold. */
export async function shedLoad(
  app: FastifyInstance,
  options: OverloadOptions,
  isExempt: (request: FastifyRequest) => boolean
): Promise<void> {
  const { retryAfterSeconds = 10 } = options
  await app.register(underPressure, {
    maxEventLoopDelay: options.eventLoopDelayMilliseconds ?? 0,
    maxEventLoopUtilization: options.eventLoopUtilization ?? 0,
    // By default it is measured since the start of the process, which does not reflect the current load.
    eventLoopUtilizationMode: 'interval',
    maxHeapUsedBytes: options.heapUsedBytes ?? 0,
    maxRssBytes: options.rssBytes ?? 0,
    async pressureHandler(request) {
      if (!isExempt(request)) throw serviceOverloaded(retryAfterSeconds)
    }
  })
}
