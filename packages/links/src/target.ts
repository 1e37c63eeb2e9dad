// Names under which credentials travel in a query, compared without case, dashes and underscores.
const secretNames = new Set([
  'accesstoken',
  'apikey',
  'apitoken',
  'assertion',
  'auth',
  'authorization',
  'authtoken',
  'bearer',
  'clientassertion',
  'clientsecret',
  'code',
  'credential',
  'credentials',
  'idtoken',
  'jwt',
  'key',
  'passwd',
  'password',
  'privatekey',
  'pwd',
  'refreshtoken',
  'secret',
  'session',
  'sessionid',
  'sig',
  'signature',
  'token',
  'xapikey'
])

const maxTargetLength = 2048

/**
 * A request's target as it may be shown: path and query, without parameters that carry credentials, without what could
 * break out of a log line or a header, at most 2,048 characters. Never throws, whatever a client put there.
 */
export function targetWithoutSecrets(target: string): string {
  const question = target.indexOf('?')
  if (question === -1) return printable(target)
  const kept = target
    .slice(question + 1)
    .split('&')
    .filter((parameter) => !secretNames.has(nameOf(parameter)))
  return printable(target.slice(0, question) + (kept.length === 0 ? '' : `?${kept.join('&')}`))
}

function nameOf(parameter: string) {
  const raw = parameter.split('=', 1)[0] ?? ''
  // Decoded byte by byte: decodeURIComponent would throw on a broken escape, and %74oken must not pass for harmless.
  const decoded = raw.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decoded.toLowerCase().replace(/[^a-z]/g, '')
}

function printable(target: string) {
  return target.slice(0, maxTargetLength).replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponentSafely)
}

function encodeURIComponentSafely(character: string) {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}
