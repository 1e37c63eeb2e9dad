const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const month = `(?<month>${months.join('|')})`
const time = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)'
// The three forms of RFC 9110 §5.6.7: the preferred one, that of RFC 850 with two digits for the year, and that of C's asctime().
const forms = [
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`
].map((form) => new RegExp(`^${form}$`))

/**
 * Parses an HTTP date in any of its three forms and returns it in seconds since the Unix epoch, or `undefined` if it is invalid (RFC 9110
 * §5.6.7). A year with two digits is at most 50 years ahead.
 */
export function readHttpDate(text: string): number | undefined {
  const parts = forms.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const { year = '', day = '', hour, minute, second } = parts
  const fullYear = year.length === 2 ? centuryOf(Number(year)) : Number(year)
  const monthIndex = months.indexOf(parts['month'] as string)
  // setUTCFullYear is used because Date.UTC maps the years 0 to 99 to the last century.
  const midnight = new Date(0).setUTCFullYear(fullYear, monthIndex, Number(day))
  if (new Date(midnight).getUTCMonth() !== monthIndex) return undefined
  return midnight / 1000 + Number(hour) * 3600 + Number(minute) * 60 + Number(second)
}

/** Formats an HTTP date in the preferred form. */
export function writeHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString()
}

function centuryOf(twoDigits: number) {
  const thisYear = new Date().getUTCFullYear()
  const year = thisYear - (thisYear % 100) + twoDigits
  return year > thisYear + 50 ? year - 100 : year
}
