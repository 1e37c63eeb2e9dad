const credentialNames = `
  access_token api_key api_token auth_token authorization bearer client_assertion client_secret id_token jwt passwd password refresh_token secret
  session_id token x_api_key
`
  .trim()
  .split(/\s+/)

const refused = new Set(credentialNames.map(lettersOf))

/** Returns whether a request target has credentials, as a parameter or as `user:password@` (rule U7). Never throws. Case and punctuation are ignored. */
export function hasUriCredentials(target: string): boolean {
  if (!target.startsWith('/') && /^[a-z][a-z\d+.-]*:\/\/[^/?#]*@/i.test(target)) return true
  // The router also begins the query at a #, and optionally at a semicolon; a value may be a URL with its own query.
  const start = target.search(/[?#;]/)
  if (start === -1) return false
  return target
    .slice(start + 1)
    .split(/[&?#;]/)
    .some((parameter) => refused.has(lettersOf(decoded(parameter.split('=', 1)[0] as string))))
}

function lettersOf(name: string) {
  // A parser of nested names reads a token in "user[token]", but the whole name is different.
  return name.toLowerCase().replace(/[^a-z\d]/g, '')
}

// Decoded byte by byte, because decodeURIComponent throws on an invalid escape, and %74oken must be detected.
function decoded(name: string) {
  return name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
