import { weaknessOf } from './secret-strength.ts'

/** The checks that {@link optionChecks} returns. Each returns the value, or throws a `TypeError` of one line that names the option. */
export interface OptionChecks {
  /** Requires an integer from `min` to `max`. */
  readonly integer: (path: string, value: unknown, min: number, max?: number) => number
  /** Requires a number from `min` to `max`, with or without a fraction. */
  readonly number: (path: string, value: unknown, min: number, max?: number) => number
  /** Requires the name of a header field (RFC 9110 §5.1). */
  readonly headerName: (path: string, value: unknown) => string
  /** Requires a secret that looks random: a text or bytes, of at least 32 bytes. */
  readonly secret: (path: string, value: string | Uint8Array) => string | Uint8Array
  /** Requires one of the choices. */
  readonly oneOf: <Choice>(path: string, value: unknown, choices: readonly Choice[]) => Choice
  /**
   * Requires a `Date` or an ISO 8601 date-time with `Z` or an offset, because without one the time would depend on the time zone of the process.
   * Returns it in milliseconds since the Unix epoch.
   */
  readonly time: (path: string, value: unknown) => number
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

/**
 * Creates checks for the options of a plugin. `plugin` is the beginning of each message, `path` the option as the user writes it:
 * `jobs: options.maxAttempts must be an integer of at least 1, but is 0.`
 */
export function optionChecks(plugin: string): OptionChecks {
  function refuse(path: string, requirement: string, value: unknown): never {
    throw new TypeError(`${plugin}: ${path} must be ${requirement}, but is ${shown(value)}.`)
  }

  return {
    integer(path, value, min, max = Number.MAX_SAFE_INTEGER) {
      return Number.isSafeInteger(value) && inRange(value, min, max) ? value : refuse(path, `an integer ${rangeOf(min, max)}`, value)
    },
    number(path, value, min, max = Number.MAX_VALUE) {
      return inRange(value, min, max) ? value : refuse(path, `a number ${rangeOf(min, max)}`, value)
    },
    headerName(path, value) {
      return typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value) ? value : refuse(path, 'the name of a header', value)
    },
    secret(path, value) {
      const isSecret = typeof value === 'string' || value instanceof Uint8Array
      const weakness = isSecret ? weaknessOf(value) : 'must be a string or bytes'
      if (weakness === undefined) return value
      // Without the value, and with the way to a good one.
      throw new TypeError(`${plugin}: ${path} ${weakness}. Create a secret with: openssl rand -base64 32`)
    },
    oneOf(path, value, choices) {
      const found = choices.find((choice) => choice === value)
      return found === undefined ? refuse(path, choices.map(shown).join(' or '), value) : found
    },
    time(path, value) {
      const time =
        typeof value === 'string' && dateTime.test(value) ? Date.parse(value) : value instanceof Date ? value.getTime() : Number.NaN
      return Number.isNaN(time)
        ? refuse(path, 'a valid Date or an ISO 8601 date-time with Z or an offset, such as "2028-01-01T00:00:00Z"', value)
        : time
    }
  }
}

function inRange(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}

function rangeOf(min: number, max: number) {
  return max >= Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
}

// Long values and objects would make the line unreadable, and might contain a secret.
function shown(value: unknown) {
  if (typeof value === 'string') return value.length > 40 ? 'a long text' : JSON.stringify(value)
  if (value instanceof Date) return String(value)
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
