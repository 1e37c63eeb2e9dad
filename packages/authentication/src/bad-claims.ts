import type { Case, GoodToken } from './bad-token.ts'

/** Rightly signed tokens with claims that are missing, of another type or not to be believed. */
export function badClaims({ header, claims, signed }: GoodToken): Case[] {
  const withClaims = (change: object) => signed(header, { ...claims, ...change })
  const text = JSON.stringify(claims)
  return [
    ...['iss', 'sub', 'aud', 'exp', 'iat'].map((name): Case => [`${name} missing`, withClaims({ [name]: undefined })]),
    ['iss another', withClaims({ iss: 'https://attacker.example' })],
    ['iss a list with the right one', withClaims({ iss: [claims['iss'], 'https://attacker.example'] })],
    ['iss with a slash more', withClaims({ iss: `${String(claims['iss'])}/` })],
    ['iss a member of every object', withClaims({ iss: '__proto__' })],
    ['aud another', withClaims({ aud: 'another-service' })],
    ['aud an empty list', withClaims({ aud: [] })],
    ['aud a list with a number', withClaims({ aud: [claims['aud'], 1] })],
    ['aud an object', withClaims({ aud: { 0: claims['aud'] } })],
    ['aud longer', withClaims({ aud: `${String(claims['aud'])}.attacker.example` })],
    ['sub empty', withClaims({ sub: '' })],
    ['sub a number', withClaims({ sub: 1 })],
    ['sub null', withClaims({ sub: null })],
    ['sub a list', withClaims({ sub: ['test-user'] })],
    ['sub too long', withClaims({ sub: 'x'.repeat(256) })],
    ['jti a number', withClaims({ jti: 7 })],
    ['sid an object', withClaims({ sid: {} })],
    ['client_id a list', withClaims({ client_id: ['a'] })],
    ['scope a list', withClaims({ scope: ['orders:read'] })],
    ['roles a text', withClaims({ roles: 'staff' })],
    ['roles a list with a number', withClaims({ roles: [1] })],
    ['sub twice', signed(header, text.replace('{', '{"sub":"admin",'))],
    ['sub twice, once escaped', signed(header, text.replace('{', '{"s\\u0075b":"admin",'))],
    ['a nested member twice', signed(header, text.replace('{', '{"act":{"sub":"a","sub":"b"},'))],
    ['payload a list', signed(header, [claims])],
    ['payload null', signed(header, 'null')],
    ['payload a number', signed(header, '1')],
    ['payload a text', signed(header, '"claims"')],
    ['payload no JSON', signed(header, '{"sub":')],
    ['payload with an object that can not be text', withClaims({ token_use: { toString: 1 } })]
  ]
}

/** The same for `exp`, `iat` and `nbf`. `now` in seconds. */
export function badTimes({ header, claims, signed }: GoodToken, now: number): Case[] {
  const exp = claims['exp'] as number
  const withClaims = (change: object) => signed(header, { ...claims, ...change })
  const raw = (change: (text: string) => string) => signed(header, change(JSON.stringify(claims)))
  return [
    ['exp a text', withClaims({ exp: String(exp) })],
    ['exp with a fraction', withClaims({ exp: exp + 0.5 })],
    ['exp negative', withClaims({ exp: -exp })],
    ['exp zero', withClaims({ exp: 0 })],
    ['exp null', withClaims({ exp: null })],
    ['exp a list', withClaims({ exp: [exp] })],
    ['exp true', withClaims({ exp: true })],
    ['exp huge', raw((text) => text.replace(/"exp":\d+/, '"exp":1e20'))],
    ['exp infinite', raw((text) => text.replace(/"exp":\d+/, '"exp":1e999'))],
    ['exp in a year', withClaims({ exp: now + 31_536_000 })],
    ['exp before iat', withClaims({ iat: now, exp: now - 1 })],
    ['iat in the future', withClaims({ iat: now + 600, nbf: now, exp: now + 900 })],
    ['iat a text', withClaims({ iat: String(now) })],
    ['iat with a fraction', withClaims({ iat: now - 0.5 })],
    ['nbf in the future', withClaims({ nbf: now + 200 })],
    ['nbf a text', withClaims({ nbf: String(now) })],
    ['nbf null', withClaims({ nbf: null })]
  ]
}
