import { targetWithoutSecrets, textWithoutTokens } from '@concordat/plugin-kit/links'
import { RequestLine } from './request-line.ts'

/** The text that the log shows in place of a hidden value. */
const hidden = '[hidden]'

// These headers carry credentials, whatever their schema is.
const credentials = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'x-api-key']

// A larger log line is not useful. By default, pino stops at five levels and 100 members.
const maxDepth = 8
const maxValues = 10_000

/** Hides the values of certain fields in everything that is logged, at any depth. */
export class HiddenFields {
  readonly #names: Set<string> = new Set(credentials)
  #inText: RegExp = textPattern(this.#names)

  /** Throws a `TypeError` if `names`, those of `options.hiddenFields`, are not an array of names. */
  constructor(names: readonly string[]) {
    if (!Array.isArray(names) || names.some((name) => typeof name !== 'string' || name === ''))
      throw new TypeError(
        `transport-security: options.hiddenFields must be an array of names, for example ["iban"], but is ${JSON.stringify(names)}.`
      )
    this.add(names)
  }

  /** Adds names to hide, also in lower case for headers. */
  add(names: Iterable<string>): void {
    for (const name of names) this.#names.add(name).add(name.toLowerCase())
    this.#inText = textPattern(this.#names)
  }

  /** Returns the members of a log line without hidden values. Members named in `exempt` are not changed: a serializer handles them. */
  inLine(line: object, exempt: object = {}): object {
    // The line of each request has already been cleaned.
    if (line instanceof RequestLine) return line
    const budget = { left: maxValues }
    return this.#members(line, (name, value) => (Object.hasOwn(exempt, name) ? value : this.#value(value, maxDepth, budget)))
  }

  /** Returns a text without hidden values and without tokens. The text may contain JSON. */
  inText(text: string): string {
    const hasMembers = text.includes('":') || text.includes('" :')
    return textWithoutTokens(hasMembers ? text.replace(this.#inText, `"$1":"${hidden}"`) : text)
  }

  /** Returns the target of a request without credentials and without hidden parameters. */
  inTarget(target: string): string {
    const shown = targetWithoutSecrets(target)
    const start = shown.indexOf('?')
    if (start === -1) return shown
    const parameters = shown.slice(start + 1).split('&')
    const remaining = parameters.filter((parameter) => !this.#isParameter(parameter.split('=', 1)[0] as string))
    if (remaining.length === parameters.length) return shown
    return shown.slice(0, start) + (remaining.length === 0 ? '' : `?${remaining.join('&')}`)
  }

  #isParameter(name: string) {
    return this.#isHidden(name.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))))
  }

  // In a query string, `filter[email]` and `email[eq]` match too.
  #isHidden(name: string) {
    return this.#names.has(name) || (name.includes('[') && name.split(/[[\]]/).some((part) => this.#names.has(part)))
  }

  #value(value: unknown, depth: number, budget: { left: number }): unknown {
    if (typeof value === 'string') return this.inText(value)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    budget.left -= 1
    if (depth === 0 || budget.left < 0) return '[truncated]'
    const { toJSON } = value as { toJSON?: unknown }
    if (typeof toJSON === 'function') return this.#value(toJSON.call(value, ''), depth - 1, budget)
    return this.#members(value, (_name, member) => this.#value(member, depth - 1, budget))
  }

  // Copies only when something changes, which is rare.
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

// The bounds keep the matching time linear for texts that a client controls.
function textPattern(names: ReadonlySet<string>) {
  const any = [...names].map((name) => name.replaceAll(/[^\w-]/g, '\\$&')).join('|')
  const name = `(?:[\\w.-]{1,99}\\[)?(?:${any})\\]?(?:\\[[^"\\]]{0,99}\\])?`
  const value = '"(?:[^"\\\\]|\\\\.)*"?|\\[[^\\]]{0,1000}\\]?|\\{[^}]{0,1000}\\}?|[^\\s,}\\]]+'
  return new RegExp(`"(${name})"\\s{0,9}:\\s{0,9}(?:${value})`, 'g')
}
