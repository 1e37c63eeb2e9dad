import { optionChecks } from '@concordat/plugin-options'
import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serviceOverloaded } from './errors.ts'

/** The thresholds above which requests get 503 `SERVICE_OVERLOADED`. Each is measured once a second; at least one is required. */
export interface OverloadOptions {
  /** The maximum average delay of the event loop. 1000 means that every response waits for one second of other work. */
  readonly maxEventLoopDelayMs?: number | undefined
  /** The maximum fraction of the last second in which the event loop was busy, from 0 to 1. A busy process is not necessarily slow. */
  readonly maxEventLoopUtilization?: number | undefined
  /** The maximum used size of V8's heap. */
  readonly maxHeapUsedBytes?: number | undefined
  /** The maximum resident memory of the whole process. */
  readonly maxRssBytes?: number | undefined
  /**
   * The value of `Retry-After`.
   * @default 10
   */
  readonly retryAfterSeconds?: number | undefined
}

const thresholds = ['maxEventLoopDelayMs', 'maxEventLoopUtilization', 'maxHeapUsedBytes', 'maxRssBytes'] as const

const { integer, number } = optionChecks('rate-limiting')

/** Returns the overload options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function requireOverload(options: OverloadOptions): OverloadOptions {
  const { retryAfterSeconds = 10 } = options
  const names = thresholds.filter((name) => options[name] !== undefined)
  if (names.length === 0) {
    throw new TypeError(
      'rate-limiting: options.overload must have a threshold. Set one, such as { maxEventLoopDelayMs: 1000 }, or remove overload.'
    )
  }
  for (const name of names) {
    const [min, max] = name === 'maxEventLoopUtilization' ? [0.000001, 1] : [1]
    number(`options.overload.${name}`, options[name], min, max)
  }
  integer('options.overload.retryAfterSeconds', retryAfterSeconds, 1)
  return { ...options, retryAfterSeconds }
}

/** While a metric exceeds its threshold, responds with 503 to every request that is not exempt. */
export async function shedLoad(
  app: FastifyInstance,
  options: OverloadOptions,
  isExempt: (request: FastifyRequest) => boolean
): Promise<void> {
  const { retryAfterSeconds = 10 } = options
  await app.register(underPressure, {
    maxEventLoopDelay: options.maxEventLoopDelayMs ?? 0,
    maxEventLoopUtilization: options.maxEventLoopUtilization ?? 0,
    // By default it is measured since the start of the process, which does not reflect the current load.
    eventLoopUtilizationMode: 'interval',
    maxHeapUsedBytes: options.maxHeapUsedBytes ?? 0,
    maxRssBytes: options.maxRssBytes ?? 0,
    async pressureHandler(request) {
      if (!isExempt(request)) throw serviceOverloaded(retryAfterSeconds)
    }
  })
}
