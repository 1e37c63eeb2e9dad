import { textWithoutTokens } from './tokens.ts'

// Names of query parameters that carry credentials. Only their letters are compared.
const secretNames = new Set(
  `accesstoken apikey apitoken assertion auth authorization authtoken bearer clientassertion clientsecret code credential credentials idtoken jwt key
  passwd password privatekey pwd refreshtoken secret session sessionid sig signature token xapikey`.split(/\s+/)
)

// Names that are ordinary too, as filters of a list.
const ambiguousNames = new Set(['code', 'key', 'session'])

// Most targets need only these checks: plain characters, and none of the texts of which every name contains at least one.
const plain = /^\/[\w\-.~!$&'()*+,:=@/?]*$/
const suspicious = /token|key|auth|secret|passw|pwd|assertion|bearer|code|credential|jwt|session|sig/i

// Also a % that begins no escape, because the target becomes part of a URI.
const unprintable = /%(?![\dA-Fa-f]{2})|[^!#-;=?-Z_a-z~]/gu
const maxTargetLength = 2048

/**
 * Returns a request target that is safe in a log line or a header: at most 2,048 characters of printable ASCII, without parameters that carry
 * credentials, without the origin of an absolute target, and without tokens ({@link textWithoutTokens}). Never throws. The `filters` of the route
 * stay, also those called `code`, `key` or `session`.
 */
export function targetWithoutSecrets(target: string, filters?: Pick<ReadonlySet<string>, 'has'>): string {
  // A request needs its own target for a link and for its log line.
  if (target === lastPlain) return target
  if (isPlain(target)) return (lastPlain = target)
  const local = target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*\/?/i, '/')
  // In the router of Fastify the query also starts at a #, and with an option at a semicolon.
  const start = local.search(/[?#;]/)
  if (start === -1) return printable(textWithoutTokens(local))
  const remaining = local
    .slice(start + 1)
    .split('&')
    .filter((parameter) => !carriesSecret(parameter, filters))
  return printable(textWithoutTokens(local.slice(0, start)) + (remaining.length === 0 ? '' : local.charAt(start) + remaining.join('&')))
}

let lastPlain: string | undefined

function isPlain(target: string) {
  if (target.length > maxTargetLength || !plain.test(target)) return false
  return !(target.includes('?') && suspicious.test(target)) && textWithoutTokens(target) === target
}

// A value can contain a URL with its own query, so names are checked after every separator, and the whole parameter is removed.
function carriesSecret(parameter: string, filters: Pick<ReadonlySet<string>, 'has'> | undefined) {
  const names = parameter.split(/[?#;]/).map((part) => decoded(part.split('=', 1)[0] ?? ''))
  const [field = ''] = (names[0] as string).split('[', 1)
  const isFilter = filters?.has(field) === true
  if (!isFilter && textWithoutTokens(parameter) !== parameter) return true
  return names.some((name, index) => isSecretName(name) && !(index === 0 && isFilter && ambiguousNames.has(lettersOf(field))))
}

function isSecretName(name: string) {
  return [name, ...name.split(/[^\w-]/)].some((part) => secretNames.has(lettersOf(part)))
}

function lettersOf(name: string) {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

// Decodes byte by byte: decodeURIComponent throws for an invalid escape, and %74oken must be recognized.
function decoded(name: string) {
  return name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function printable(target: string) {
  const escaped = target
    .slice(0, maxTargetLength)
    .replace(unprintable, (character) =>
      Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
    )
  return escaped.length <= maxTargetLength ? escaped : escaped.slice(0, maxTargetLength).replace(/%.?$/, '')
}
