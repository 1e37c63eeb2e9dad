import type { RouteOptions } from 'fastify'

/** Throws a `TypeError` for a route that starts jobs and declares responses, but not the 202 of `reply.accepted`. */
export function requireAcceptance({ method, url, config, schema }: RouteOptions): void {
  const declared: object = schema?.response ?? { 202: {} }
  if (config?.job !== 'start' || Object.keys(declared).some((status) => /^2(?:02|xx)$/i.test(status))) return
  throw new TypeError(
    `jobs: ${String(method)} ${url} has config.job "start", but its schema.response does not declare 202, with which reply.accepted responds. Add 202: jobRecordSchema.`
  )
}
