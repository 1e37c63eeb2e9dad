import { Cron } from 'croner'

/** When the jobs of a schedule start. */
export interface Timing {
  /** The timing as a text. Two timings with the same text have the same occurrences. */
  readonly text: string
  /** Returns the first occurrence after a time. Both are in milliseconds since the Unix epoch. */
  next(after: number): number
  /** Returns the date of a time in the zone of the schedule: `2026-03-29`. */
  dateOf(time: number): string
}

const fields = ['minute', 'hour', 'day of the month', 'month', 'day of the week']

/** Returns the timing of a cron expression. Throws a `TypeError` of one line that begins with `place` for one that is invalid or never occurs. */
export function cronTiming(place: string, cron: string, zone: string | undefined): Timing {
  requireZone(place, zone)
  const what = `${place}.cron "${cron}"`
  const parts = cron.trim().split(/\s+/)
  requireFields(what, parts)
  const pattern = parts.join(' ')
  if (croner(what, pattern, zone)(Date.now()) === Number.POSITIVE_INFINITY)
    throw new TypeError(`${what} never occurs. Use a day that its month has.`)
  const patterns = patternsOf(parts, zone).map((single) => remembered(croner(what, single, zone)))
  const next = (after: number) => patterns.reduce((first, single) => Math.min(first, single(after)), Number.POSITIVE_INFINITY)
  return { text: `${pattern} ${zone}`, next, dateOf: dateIn(zone) }
}

/** Returns the timing of an interval: its multiples since 1970-01-01T00:00:00Z, so that all processes have the same occurrences. */
export function intervalTiming(seconds: number): Timing {
  const ms = seconds * 1000
  return { text: `every ${seconds} s`, next: (after) => (Math.floor(after / ms) + 1) * ms, dateOf: dateIn('UTC') }
}

// There is no complete list of names, and an abbreviation such as CET has different meanings in different releases of Node.js.
function requireZone(place: string, zone: string | undefined): asserts zone is string {
  if (zone === undefined) throw new TypeError(`${place}.zone is missing. Set the time zone of cron, for example "Europe/Berlin" or "UTC".`)
  try {
    if (zone !== 'UTC' && !zone.includes('/')) throw new RangeError('not Area/Location')
    dateIn(zone)
  } catch {
    throw new TypeError(`${place}.zone "${zone}" is not a time zone. Use a name such as "Europe/Berlin", or "UTC".`)
  }
}

function requireFields(what: string, parts: readonly string[]) {
  if (parts.length !== 5) throw new TypeError(`${what} must have five fields: ${fields.join(', ')}.`)
  // What croner would accept with another meaning than cron.
  const invalid = parts.findIndex((part) => !/^[\dA-Z*,/#-]+$/i.test(part))
  if (invalid >= 0)
    throw new TypeError(`${what} has "${parts[invalid]}" as its ${fields[invalid]}. Use numbers, *, lists, ranges and steps.`)
  if (parts[2] !== '*' && parts[4] !== '*')
    throw new TypeError(
      `${what} has a day of the month and a day of the week, and occurs on the days of either. Use * for one of them, and a second schedule for the other.`
    )
}

function croner(what: string, pattern: string, timezone: string) {
  try {
    const cron = new Cron(pattern, { timezone, mode: '5-part', paused: true })
    return (after: number) => cron.nextRun(new Date(after))?.getTime() ?? Number.POSITIVE_INFINITY
  } catch (error) {
    const [reason] = (error as Error).message.replace(/^CronPattern: /, '').split('\n')
    throw new TypeError(`${what} is invalid: ${reason?.replace(/\.$/, '')}. Use five fields: ${fields.join(', ')}.`, { cause: error })
  }
}

/**
 * On the days of a change to or from summer time, croner shifts what is missing and runs once what occurs twice only for a single minute of a single
 * hour. So other patterns become one for each time of the day, unless they are for every hour.
 */
function patternsOf(parts: readonly string[], zone: string): readonly string[] {
  const [minute = '', hour = '', ...days] = parts
  if (hour === '*' || zone === 'UTC') return [parts.join(' ')]
  const [minutes, hours] = [valuesOf(minute, 59), valuesOf(hour, 23)]
  return hours.flatMap((hour) => minutes.map((minute) => [minute, hour, ...days].join(' ')))
}

/** Returns the values of a valid field. */
function valuesOf(field: string, max: number) {
  const values = field.split(',').flatMap((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [first = 0, last = first] = range === '*' ? [0, max] : range.split('-').map(Number)
    return Array.from({ length: Math.floor((last - first) / Number(step)) + 1 }, (_, index) => first + index * Number(step))
  })
  return [...new Set(values)]
}

/** The same next time follows from every time before it. */
function remembered(next: (after: number) => number) {
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return (after: number) => {
    if (after < from || after >= to) [from, to] = [after, next(after)]
    return to
  }
}

function dateIn(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (time: number) => format.format(time)
}
