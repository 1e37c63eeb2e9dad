import type { Case, GoodToken } from './bad-token.ts'

/** Returns correctly signed tokens with claims that are missing, of the wrong type or not trustworthy. */
export function badClaims({ header, claims, signed }: GoodToken): Case[] {
  const withClaims = (change: object) => signed(header, { ...claims, ...change })
  const text = JSON.stringify(claims)
  return [
    ...['iss', 'sub', 'aud', 'exp', 'iat'].map((name): Case => [`${name} is missing`, withClaims({ [name]: undefined })]),
    ['iss is another issuer', withClaims({ iss: 'https://attacker.example' })],
    ['iss is a list with the right issuer', withClaims({ iss: [claims['iss'], 'https://attacker.example'] })],
    ['iss with an additional slash', withClaims({ iss: `${String(claims['iss'])}/` })],
    ['iss is a member of every object', withClaims({ iss: '__proto__' })],
    ['aud is another service', withClaims({ aud: 'another-service' })],
    ['aud is an empty list', withClaims({ aud: [] })],
    ['aud is a list with a number', withClaims({ aud: [claims['aud'], 1] })],
    ['aud is an object', withClaims({ aud: { 0: claims['aud'] } })],
    ['aud with a suffix', withClaims({ aud: `${String(claims['aud'])}.attacker.example` })],
    ['sub is empty', withClaims({ sub: '' })],
    ['sub is a number', withClaims({ sub: 1 })],
    ['sub is null', withClaims({ sub: null })],
    ['sub is a list', withClaims({ sub: ['test-user'] })],
    ['sub is too long', withClaims({ sub: 'x'.repeat(256) })],
    ['jti is a number', withClaims({ jti: 7 })],
    ['sid is an object', withClaims({ sid: {} })],
    ['client_id is a list', withClaims({ client_id: ['a'] })],
    ['scope is a list with a number', withClaims({ scope: ['orders:read', 1] })],
    ['scope is an object', withClaims({ scope: { 'orders:read': true } })],
    ['scope is a number', withClaims({ scope: 1 })],
    ['roles is an object', withClaims({ roles: { staff: true } })],
    ['roles is a list with a number', withClaims({ roles: [1] })],
    ['sub twice', signed(header, text.replace('{', '{"sub":"admin",'))],
    ['sub twice, once escaped', signed(header, text.replace('{', '{"s\\u0075b":"admin",'))],
    ['a nested member twice', signed(header, text.replace('{', '{"act":{"sub":"a","sub":"b"},'))],
    ['payload is a list', signed(header, [claims])],
    ['payload is null', signed(header, 'null')],
    ['payload is a number', signed(header, '1')],
    ['payload is a string', signed(header, '"claims"')],
    ['payload is not JSON', signed(header, '{"sub":')],
    ['payload with an object that cannot become a string', withClaims({ token_use: { toString: 1 } })]
  ]
}

/** Returns correctly signed tokens with wrong `exp`, `iat` and `nbf`. `now` is in seconds since the Unix epoch. */
export function badTimes({ header, claims, signed }: GoodToken, now: number): Case[] {
  const exp = claims['exp'] as number
  const withClaims = (change: object) => signed(header, { ...claims, ...change })
  const raw = (change: (text: string) => string) => signed(header, change(JSON.stringify(claims)))
  return [
    ['exp is a string', withClaims({ exp: String(exp) })],
    ['exp is negative', withClaims({ exp: -exp })],
    ['exp is zero', withClaims({ exp: 0 })],
    ['exp is null', withClaims({ exp: null })],
    ['exp is a list', withClaims({ exp: [exp] })],
    ['exp is true', withClaims({ exp: true })],
    ['exp is huge', raw((text) => text.replace(/"exp":\d+/, '"exp":1e20'))],
    ['exp is infinite', raw((text) => text.replace(/"exp":\d+/, '"exp":1e999'))],
    ['exp is in a year', withClaims({ exp: now + 31_536_000 })],
    ['exp is before iat', withClaims({ iat: now, exp: now - 1 })],
    ['iat is in the future', withClaims({ iat: now + 600, nbf: now, exp: now + 900 })],
    ['iat is a string', withClaims({ iat: String(now) })],
    ['iat is infinite', raw((text) => text.replace(/"iat":\d+/, '"iat":1e999'))],
    ['iat is negative', withClaims({ iat: -0.5 })],
    ['exp with a fraction is before iat', withClaims({ iat: now, exp: now - 0.5 })],
    ['nbf with a fraction is in the future', withClaims({ nbf: exp + 0.5, exp: exp + 1 })],
    ['nbf is in the future', withClaims({ nbf: now + 200 })],
    ['nbf is a string', withClaims({ nbf: String(now) })],
    ['nbf is null', withClaims({ nbf: null })]
  ]
}
