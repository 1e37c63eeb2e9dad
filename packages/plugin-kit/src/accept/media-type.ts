/** A media type or media range in a header, with names in lower case and parameter values as they were sent. */
export interface MediaType {
  /** `type/subtype`, without parameters. */
  readonly essence: string
  readonly parameters: ReadonlyMap<string, string>
  /** Whether a parameter was sent more than once. `parameters` has its first value. */
  readonly repeatsParameter: boolean
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const essencePattern = new RegExp(`^[ \\t]*(${token}/${token})[ \\t]*`)
const parameterPattern = new RegExp(`;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\]|\\\\.)*)"))?[ \\t]*`, 'y')

/** Parses a media type with its parameters (RFC 9110 §8.3.1), in linear time. Returns undefined if it is malformed. */
export function parseMediaType(text: string): MediaType | undefined {
  const start = essencePattern.exec(text)
  if (start === null) return undefined
  const parameters = new Map<string, string>()
  let repeatsParameter = false
  parameterPattern.lastIndex = start[0].length
  while (parameterPattern.lastIndex < text.length) {
    const parameter = parameterPattern.exec(text)
    if (parameter === null) return undefined
    const [, name, plain, quoted = ''] = parameter
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) repeatsParameter = true
    else parameters.set(key, plain ?? quoted.replaceAll(/\\(.)/g, '$1'))
  }
  return { essence: (start[1] as string).toLowerCase(), parameters, repeatsParameter }
}

/** Returns whether the type has no charset, or UTF-8, which is the only supported charset. */
export function isUtf8({ parameters }: MediaType): boolean {
  const charset = parameters.get('charset')
  return charset === undefined || /^utf-?8$/i.test(charset)
}
