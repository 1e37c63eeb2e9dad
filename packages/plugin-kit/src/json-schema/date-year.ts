const hyphen = 45
const beyond = /^(?:-?infinity$|[+-]?\d{5,}-)/

/**
 * Returns whether a date or a time has a year that RFC 3339 can express. PostgreSQL also has infinity, and the years before 1 and after 9999. Other texts
 * are not checked.
 */
export function hasDateYear(text: string): boolean {
  return text.charCodeAt(4) === hyphen ? !text.includes(' BC') : !beyond.test(text)
}
