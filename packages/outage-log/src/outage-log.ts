/** The part of a logger that this package uses, for example `app.log` of Fastify. */
export interface OutageLogger {
  error(details: object, message: string): void
  info(details: object, message: string): void
}

/** Logs a failure. `message` says what failed. `firstLog` writes the first line instead, for example with the id of a request. */
export type ReportFailure = (error: unknown, message: string, firstLog?: OutageLogger) => void

interface Outage {
  latest: unknown
  /** The failures since the last line. */
  repeats: number
  failures: number
}

const summaryMs = 60_000
const maxKinds = 50
const maxKindLength = 200

/**
 * Creates a function that logs failures. The first of a kind is logged immediately, with the error. While it is repeated, one line a minute has the
 * number of `repeats`, and after a minute without it, one line has the number of all `failures`. Failures are of one kind if they have the same
 * message, and their errors and causes the same code, or the same message without a code. Of at most 50 kinds at a time; further kinds count as
 * one for each message.
 */
export function outageLog(log: OutageLogger): ReportFailure {
  const outages = new Map<string, Outage>()

  return (error, message, firstLog = log) => {
    const kind = `${message} ${kindOf(error)}`
    const key = outages.has(kind) || outages.size < maxKinds ? kind : message
    const outage = outages.get(key)
    if (outage === undefined) begin(key, error, message, firstLog)
    else Object.assign(outage, { latest: error, repeats: outage.repeats + 1, failures: outage.failures + 1 })
  }

  function begin(key: string, error: unknown, message: string, firstLog: OutageLogger) {
    firstLog.error({ err: error }, message)
    const outage: Outage = { latest: undefined, repeats: 0, failures: 1 }
    outages.set(key, outage)
    const timer = setInterval(() => {
      const { latest, repeats, failures } = outage
      if (repeats > 0) {
        Object.assign(outage, { latest: undefined, repeats: 0 })
        return log.error({ err: latest, repeats }, `${message}: repeated in the last minute`)
      }
      clearInterval(timer)
      outages.delete(key)
      // A single failure is not an outage.
      if (failures > 1) log.info({ failures }, `${message}: not repeated for a minute`)
    }, summaryMs)
    timer.unref()
  }
}

// What is thrown can be anything, also an object whose properties throw.
function kindOf(error: unknown) {
  try {
    const { cause } = (error ?? {}) as { readonly cause?: unknown }
    return `${nameOf(error)} ${nameOf(cause)}`.slice(0, maxKindLength)
  } catch {
    return 'unknown'
  }
}

function nameOf(error: unknown) {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return String(code ?? message ?? error)
}
