/** Names of query parameters under which credentials are sent, compared by their letters and digits alone. */
export const credentialNames: readonly string[] = [
  'access_token',
  'api_key',
  'api_token',
  'auth_token',
  'authorization',
  'bearer',
  'client_assertion',
  'client_secret',
  'id_token',
  'jwt',
  'passwd',
  'password',
  'refresh_token',
  'secret',
  'session_id',
  'token',
  'x_api_key'
]

/** Makes the test whether a request's target carries credentials, as a parameter or as `user:password@` (rule U7). Never throws. */
export function uriCredentialTest(names: readonly string[]): (target: string) => boolean {
  const refused = new Set(names.map(lettersOf))
  return (target) => {
    if (!target.startsWith('/') && /^[a-z][a-z\d+.-]*:\/\/[^/?#]*@/i.test(target)) return true
    // The router begins the query at a # as well, and by option at a semicolon; a value may be an address with a query of its own.
    const start = target.search(/[?#;]/)
    if (start === -1) return false
    return target
      .slice(start + 1)
      .split(/[&?#;]/)
      .some((parameter) => refused.has(lettersOf(decoded(parameter.split('=', 1)[0] as string))))
  }
}

function lettersOf(name: string) {
  // A parser of nested names sees "user[token]" as a token too, but its whole name is another.
  return name.toLowerCase().replace(/[^a-z\d]/g, '')
}

// Byte by byte: decodeURIComponent would throw on a broken escape, and %74oken must not pass for harmless.
function decoded(name: string) {
  return name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
