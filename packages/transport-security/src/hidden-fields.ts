import { targetWithoutSecrets } from '@concordat/links'
import { RequestLine } from './request-line.ts'

/** What a log shows in place of a hidden value. */
const hidden = '[hidden]'

// These carry credentials whatever a schema says of them.
const credentials = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'x-api-key']

// Beyond these a log line is of no use to anybody; by default, pino stops at five levels and 100 members.
const maxDepth = 8
const maxValues = 10_000

/** Takes the values of certain fields out of whatever is logged, wherever in it they stand. */
export class HiddenFields {
  readonly #names: Set<string> = new Set(credentials)
  #inText: RegExp = textPattern(this.#names)

  /** Hides these too, in headers as well, whose names come in lower case. */
  add(names: Iterable<string>): void {
    for (const name of names) this.#names.add(name).add(name.toLowerCase())
    this.#inText = textPattern(this.#names)
  }

  /** The members of a log line; those named in `kept` as they are, since a serializer will take care of them. */
  inLine(line: object, kept: object = {}): object {
    // The one line that every request has shows nothing that needs a look.
    if (line instanceof RequestLine) return line
    const budget = { left: maxValues }
    return this.#members(line, (name, value) => (Object.hasOwn(kept, name) ? value : this.#value(value, maxDepth, budget)))
  }

  /** A text in which an object may stand as JSON. */
  inText(text: string): string {
    return text.includes('":') || text.includes('" :') ? text.replace(this.#inText, `"$1":"${hidden}"`) : text
  }

  /** A request's target without credentials, and without the parameters that are hidden. */
  inTarget(target: string): string {
    const shown = targetWithoutSecrets(target)
    const start = shown.indexOf('?')
    if (start === -1) return shown
    const parameters = shown.slice(start + 1).split('&')
    const kept = parameters.filter((parameter) => !this.#isParameter(parameter.split('=', 1)[0] as string))
    if (kept.length === parameters.length) return shown
    return shown.slice(0, start) + (kept.length === 0 ? '' : `?${kept.join('&')}`)
  }

  #isParameter(name: string) {
    return this.#isHidden(name.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))))
  }

  // In a query, `filter[email]` and `email[eq]` too.
  #isHidden(name: string) {
    return this.#names.has(name) || (name.includes('[') && name.split(/[[\]]/).some((part) => this.#names.has(part)))
  }

  #value(value: unknown, depth: number, budget: { left: number }): unknown {
    if (typeof value === 'string') return this.inText(value)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    budget.left -= 1
    if (depth === 0 || budget.left < 0) return '[too much]'
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.#value(toJSON.call(value, ''), depth - 1, budget)
    return this.#members(value, (_name, member) => this.#value(member, depth - 1, budget))
  }

  // A copy only where something changes, which is nearly never.
  #members(value: object, clean: (name: string, member: unknown) => unknown): object {
    let copy: Record<string, unknown> | unknown[] | undefined
    for (const [name, member] of Object.entries(value)) {
      const shown = this.#isHidden(name) ? hidden : clean(name, member)
      if (shown === member) continue
      copy ??= Array.isArray(value) ? [...value] : { ...value }
      ;(copy as Record<string, unknown>)[name] = shown
    }
    return copy ?? value
  }
}

// The bounds keep it linear in texts that a client made up.
function textPattern(names: ReadonlySet<string>) {
  const any = [...names].map((name) => name.replaceAll(/[^\w-]/g, '\\$&')).join('|')
  const name = `(?:[\\w.-]{1,99}\\[)?(?:${any})\\]?(?:\\[[^"\\]]{0,99}\\])?`
  const value = '"(?:[^"\\\\]|\\\\.)*"?|\\[[^\\]]{0,1000}\\]?|\\{[^}]{0,1000}\\}?|[^\\s,}\\]]+'
  return new RegExp(`"(${name})"\\s{0,9}:\\s{0,9}(?:${value})`, 'g')
}
