import underPressure from '@fastify/under-pressure'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { serviceOverloaded } from './errors.ts'

/** Thresholds over which requests are answered 503 `SERVICE_OVERLOADED`. Each is measured once a second; at least one is needed. */
export interface OverloadOptions {
  /** How late the event loop is on average. 1000 means that every answer waits for a second of other work. */
  readonly eventLoopDelayMilliseconds?: number | undefined
  /** Which part of the last second the event loop was busy, over 0 and up to 1. A busy process is not yet a slow one. */
  readonly eventLoopUtilization?: number | undefined
  /** How much of V8's heap is used. */
  readonly heapUsedBytes?: number | undefined
  /** How much memory the whole process has. */
  readonly rssBytes?: number | undefined
  /**
   * What `Retry-After` says.
   * @default 10
   */
  readonly retryAfterSeconds?: number | undefined
}

const thresholds = ['eventLoopDelayMilliseconds', 'eventLoopUtilization', 'heapUsedBytes', 'rssBytes'] as const

/** Refuses nonsense with a `TypeError` of one line. */
export function requireOverload(options: OverloadOptions): OverloadOptions {
  const { retryAfterSeconds = 10 } = options
  const given = thresholds.filter((name) => options[name] !== undefined)
  if (given.length === 0) {
    throw new TypeError(
      'rate-limiting: overload has no threshold. Give one, as { eventLoopDelayMilliseconds: 1000 }, or leave overload out.'
    )
  }
  for (const name of given) {
    const value = Number(options[name])
    if (!Number.isFinite(value) || value <= 0 || (name === 'eventLoopUtilization' && value > 1)) {
      const range = name === 'eventLoopUtilization' ? 'over 0 and up to 1' : 'over 0'
      throw new TypeError(`rate-limiting: overload.${name} is ${value}. Give a number ${range}.`)
    }
  }
  if (!Number.isInteger(retryAfterSeconds) || retryAfterSeconds < 1) {
    throw new TypeError(`rate-limiting: overload.retryAfterSeconds is ${retryAfterSeconds}. Give a whole number of seconds, 1 or more.`)
  }
  return { ...options, retryAfterSeconds }
}

/** Answers 503 while a threshold is passed, to every request that is not exempt. */
export async function shedLoad(
  app: FastifyInstance,
  options: OverloadOptions,
  isExempt: (request: FastifyRequest) => boolean
): Promise<void> {
  const { retryAfterSeconds = 10 } = options
  await app.register(underPressure, {
    maxEventLoopDelay: options.eventLoopDelayMilliseconds ?? 0,
    maxEventLoopUtilization: options.eventLoopUtilization ?? 0,
    // By default it is measured since the start of the process, which tells nothing about now.
    eventLoopUtilizationMode: 'interval',
    maxHeapUsedBytes: options.heapUsedBytes ?? 0,
    maxRssBytes: options.rssBytes ?? 0,
    async pressureHandler(request) {
      if (!isExempt(request)) throw serviceOverloaded(retryAfterSeconds)
    }
  })
}
