import { isUtf8 } from 'node:buffer'
import { invalidToken } from './errors.ts'

/** A parsed token. Its content must not be trusted before its signature is verified. */
export interface TokenForm {
  readonly header: { readonly alg: string; readonly kid: string; readonly [name: string]: unknown }
  readonly payload: Readonly<Record<string, unknown>>
}

/** The default maximum length of a token, in characters. */
export const defaultMaxTokenLength = 4096

// A key inside the token proves nothing; crit and b64 change how the token is read; enc, zip and cty belong to other kinds of token.
const refusedHeaders = ['jwk', 'jku', 'x5c', 'x5u', 'crit', 'b64', 'enc', 'zip', 'cty']

/** Returns whether a token has the form of a signed JWT: three parts, of which the first begins like a JSON object in base64url. */
export function isJwt(token: string): boolean {
  return /^e[wy][\w-]*\.[^.]*\.[^.]*$/.test(token)
}

/**
 * Parses a compact JWS and rejects headers that contain keys, and anything that two parsers could read differently: non-canonical base64url,
 * duplicate members, and text that is not UTF-8. A token that is too long is rejected before it is parsed. Throws INVALID_TOKEN.
 */
export function readToken(token: string, maxTokenLength: number = defaultMaxTokenLength): TokenForm {
  if (token.length > maxTokenLength) throw invalidToken('it is too long')
  const parts = token.split('.', 4)
  if (parts.length !== 3) throw invalidToken('it does not have three parts')
  const [header, payload] = parts.map(bytesOf).slice(0, 2).map(objectOf) as [Record<string, unknown>, Record<string, unknown>]
  const refused = refusedHeaders.find((name) => Object.hasOwn(header, name))
  if (refused !== undefined) throw invalidToken(`the header parameter ${refused} is not allowed`)
  const { alg, kid } = header
  if (typeof alg !== 'string') throw invalidToken('alg is missing')
  if (typeof kid !== 'string') throw invalidToken('kid is missing')
  return { header: { ...header, alg, kid }, payload }
}

function bytesOf(part: string) {
  const bytes = Buffer.from(part, 'base64url')
  // Node ignores invalid characters, padding and unused bits at the end, so one token would have many spellings.
  if (part === '' || bytes.toString('base64url') !== part) throw invalidToken('a part is not canonical base64url')
  return bytes
}

function objectOf(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidToken('a part is not UTF-8')
  const text = bytes.toString()
  let value: unknown
  try {
    // Frozen, because claims are cached and visible to every handler.
    value = JSON.parse(text, (_name, member: unknown) => Object.freeze(member))
  } catch {
    // The error of JSON.parse quotes the token, which must not appear in a log.
    throw invalidToken('a part is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidToken('a part is not a JSON object')
  if (hasDuplicateMembers(text)) throw invalidToken('a member is repeated')
  return value
}

// Returns whether an object in this valid JSON has duplicate member names, at any depth, which parsers handle differently (RFC 8259 §4).
function hasDuplicateMembers(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  // In valid JSON, a string before a colon is a member name, and brackets outside of strings are structure.
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (name !== undefined) {
      const names = open.at(-1) as Set<string>
      const decoded = JSON.parse(name) as string
      if (names.has(decoded)) return true
      names.add(decoded)
    }
  }
  return false
}
