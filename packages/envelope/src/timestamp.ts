import type { FastifyReply } from 'fastify'
import { type EnvelopedReply, enveloped } from './enveloped.ts'

const start = '"timestamp":"'
const tailLength = start.length + new Date(0).toISOString().length + '"}}'.length

/** Returns the function that returns `_meta.timestamp` (rules F2, G2). `Date#toISOString` costs more than all else here, so it runs once a second. */
export function isoClock(): () => string {
  let second = Number.NaN
  let text = ''
  return () => {
    const time = Date.now()
    const current = Math.floor(time / 1000)
    if (current !== second) {
      second = current
      text = new Date(current * 1000).toISOString().slice(0, 20)
    }
    return `${text}${String(time - current * 1000).padStart(3, '0')}Z`
  }
}

/**
 * Returns how many characters at the end of a response change with the timestamp, in constant time. A body that only looks like an envelope has none,
 * because a validator would not detect a change in its tail.
 */
export function timestampTail(reply: FastifyReply, payload: string): number {
  const ends = (reply as EnvelopedReply)[enveloped] && payload.endsWith('"}}') && payload.startsWith(start, payload.length - tailLength)
  return ends ? tailLength : 0
}
