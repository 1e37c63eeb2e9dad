/** The part of a logger that this package uses, for example `app.log` of Fastify. */
interface OutageLogger {
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
 * Creates a function that logs the first failure of a kind with its error, each minute the number of its `repeats`, and after a minute without it the
 * number of all `failures`. A kind is a message with the code of the error and its cause, or their message without a code.
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
