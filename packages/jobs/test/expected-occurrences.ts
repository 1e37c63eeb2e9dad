const minuteMs = 60_000
const dayMs = 1440 * minuteMs
const known = new Map<string, readonly { readonly time: number; readonly date: string; readonly clock: string }[]>()

/**
 * Returns the times from `from` to `to` at which the minutes of the hours occur in a zone, found by reading the wall clock at each minute: the first time
 * at which it shows the minute, or, when it never does, the first time at which it shows a later one. Without hours, all times with the minute.
 */
export function expectedOccurrences({
  zone,
  minutes,
  hours,
  from,
  to
}: {
  readonly zone: string
  readonly minutes: readonly number[]
  readonly hours: readonly number[] | undefined
  readonly from: number
  readonly to: number
}): readonly string[] {
  const shown = wallClock(zone, from, to)
  const wanted = (hours ?? [...Array(24).keys()]).flatMap((hour) => minutes.map((minute) => `${padded(hour)}:${padded(minute)}`))
  const times =
    hours === undefined
      ? shown.filter(({ clock }) => wanted.includes(clock)).map(({ time }) => time)
      : [...new Set(shown.map(({ date }) => date))].flatMap((date) => wanted.map((clock) => firstAt(shown, `${date} ${clock}`)))
  return [...new Set(times)]
    .filter((time) => time > from && time <= to)
    .sort((one, other) => one - other)
    .map((time) => new Date(time).toISOString())
}

function firstAt(shown: ReturnType<typeof wallClock>, wanted: string) {
  const same = shown.find(({ date, clock }) => `${date} ${clock}` === wanted)
  return (same ?? shown.find(({ date, clock }) => `${date} ${clock}` > wanted))?.time ?? Number.POSITIVE_INFINITY
}

function wallClock(timeZone: string, from: number, to: number) {
  const key = `${timeZone} ${from}`
  const format = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const first = Math.floor(from / minuteMs) * minuteMs - dayMs
  const read = () =>
    Array.from({ length: (to - from + 2 * dayMs) / minuteMs }, (_, index) => {
      const time = first + index * minuteMs
      const [date = '', clock = ''] = format.format(time).split(' ')
      return { time, date, clock }
    })
  const shown = known.get(key) ?? read()
  known.set(key, shown)
  return shown
}

function padded(value: number) {
  return String(value).padStart(2, '0')
}
