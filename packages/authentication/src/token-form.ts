import { isUtf8 } from 'node:buffer'
import { invalidToken } from './errors.ts'
import { hasDuplicateMembers } from './json-members.ts'

/** A token taken apart. Nothing in it is to be believed before its signature is verified. */
export interface TokenForm {
  readonly header: { readonly alg: string; readonly kid: string; readonly [name: string]: unknown }
  readonly payload: Readonly<Record<string, unknown>>
}

/** The longest token that is read, in characters, unless an option says otherwise. */
export const defaultMaxTokenLength = 4096

// A key that comes with the token proves nothing; crit and b64 change how it is read; enc, zip and cty are of other kinds of token.
const refusedHeaders = ['jwk', 'jku', 'x5c', 'x5u', 'crit', 'b64', 'enc', 'zip', 'cty']

/**
 * Takes a compact JWS apart and refuses everything that two readers could understand differently: a second spelling of the same
 * bytes, doubled members, text that is not UTF-8, headers that bring keys. What is too long is refused before it is read.
 * Raises INVALID_TOKEN.
 */
export function readToken(token: string, maxTokenLength: number = defaultMaxTokenLength): TokenForm {
  if (token.length > maxTokenLength) throw invalidToken('it is too long')
  const parts = token.split('.', 4)
  if (parts.length !== 3) throw invalidToken('it has not three parts')
  const [header, payload] = parts.map(bytesOf).slice(0, 2).map(objectOf) as [Record<string, unknown>, Record<string, unknown>]
  const refused = refusedHeaders.find((name) => Object.hasOwn(header, name))
  if (refused !== undefined) throw invalidToken(`the header ${refused} is refused`)
  const { alg, kid } = header
  if (typeof alg !== 'string') throw invalidToken('alg is missing')
  if (typeof kid !== 'string') throw invalidToken('kid is missing')
  return { header: { ...header, alg, kid }, payload }
}

function bytesOf(part: string) {
  const bytes = Buffer.from(part, 'base64url')
  // Node reads over strange characters, padding and loose bits at the end, so one token would have many spellings.
  if (part === '' || bytes.toString('base64url') !== part) throw invalidToken('a part is not plain base64url')
  return bytes
}

function objectOf(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidToken('a part is not UTF-8')
  const text = bytes.toString()
  let value: unknown
  try {
    // Frozen, since claims are remembered and shown to every handler.
    value = JSON.parse(text, (_name, member: unknown) => Object.freeze(member))
  } catch {
    // What JSON.parse says quotes the token, and would stand in a log.
    throw invalidToken('a part is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidToken('a part is no JSON object')
  if (hasDuplicateMembers(text)) throw invalidToken('a member is there twice')
  return value
}
