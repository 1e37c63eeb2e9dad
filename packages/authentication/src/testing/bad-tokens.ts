import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { badClaims, badTimes } from './bad-claims.ts'
import type { BadToken, Case, GoodToken } from './bad-token.ts'

/** Returns tokens that every service must reject, each with exactly one fault. */
export function badTokens(good: GoodToken): readonly BadToken[] {
  const now = good.claims['iat'] as number
  const expired = good.signed(good.header, { ...good.claims, iat: now - 600, nbf: now - 600, exp: now - 300 })
  return [
    { name: 'expired', token: expired, expired: true },
    ...[...headers(good), ...badClaims(good), ...badTimes(good, now), ...signatures(good), ...spellings(good), ...kinds(good)].map(
      ([name, token]) => ({
        name,
        token,
        expired: false
      })
    )
  ]
}

function headers({ header, claims, publicKey, signed }: GoodToken): Case[] {
  const attacker = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey?.export({ format: 'jwk' }) ?? { kty: 'oct', k: 'AAAA' }
  const withHeader = (change: object) => signed({ ...header, ...change }, claims)
  const byAttacker = (change: object) => {
    const input = `${part({ ...header, alg: 'ES256', ...change })}.${part(claims)}`
    const signature = signBytes('sha256', Buffer.from(input), { key: attacker.privateKey, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
  return [
    ['alg is missing', withHeader({ alg: undefined })],
    ['alg is null', withHeader({ alg: null })],
    ['alg is a list', withHeader({ alg: [header['alg']] })],
    ['alg in lower case', withHeader({ alg: String(header['alg']).toLowerCase() })],
    ['alg of a longer hash', withHeader({ alg: header['alg'] === 'HS256' ? 'HS512' : 'ES512' })],
    ['alg with a leading space', withHeader({ alg: ` ${String(header['alg'])}` })],
    ['alg of an encryption algorithm', withHeader({ alg: 'RSA-OAEP' })],
    ['kid is missing', withHeader({ kid: undefined })],
    ['kid is empty', withHeader({ kid: '' })],
    ['kid is unknown', withHeader({ kid: 'another' })],
    ['kid is a path', withHeader({ kid: '../../../../dev/null' })],
    ['kid is an SQL injection', withHeader({ kid: "x' UNION SELECT 'secret' --" })],
    ['kid is a member of every object', withHeader({ kid: '__proto__' })],
    ['kid is the constructor', withHeader({ kid: 'constructor' })],
    ['kid is a number', withHeader({ kid: 1 })],
    ['kid is a list', withHeader({ kid: [header['kid']] })],
    ['crit names an unknown extension', withHeader({ crit: ['exp'], exp: 1 })],
    ['crit is empty', withHeader({ crit: [] })],
    ['b64 is false', withHeader({ b64: false, crit: ['b64'] })],
    ['zip', withHeader({ zip: 'DEF' })],
    ['jwk of the right key', withHeader({ jwk })],
    ['jku of another site', withHeader({ jku: 'https://attacker.example/keys' })],
    ['x5u of another site', withHeader({ x5u: 'https://attacker.example/chain' })],
    ['x5c', withHeader({ x5c: ['MIIB'] })],
    ['jwk of the attacker, signed by the attacker', byAttacker({ jwk: attacker.publicKey.export({ format: 'jwk' }) })],
    ['another key with the same kid', byAttacker({})],
    ['typ is missing', withHeader({ typ: undefined })],
    ['typ of an ID token', withHeader({ typ: 'JWT' })],
    ['typ of a refresh token', withHeader({ typ: 'rt+jwt' })],
    ['typ of a logout token', withHeader({ typ: 'logout+jwt' })],
    ['typ is a list', withHeader({ typ: ['at+jwt'] })],
    ['header with a member twice', signed(JSON.stringify(header).replace('{', `{"alg":"none",`), claims)],
    ['header is a list', signed([header], claims)],
    ['header is null', signed('null', claims)],
    ['header is not JSON', signed('{alg}', claims)]
  ]
}

function signatures({ header, claims, publicKey, secret, signed }: GoodToken): Case[] {
  const token = signed(header, claims)
  const [head = '', body = '', signature = ''] = token.split('.')
  const unsigned = ['none', 'None', 'NONE', 'nOnE'].flatMap((alg): Case[] => {
    const input = `${part({ ...header, alg })}.${body}`
    return [
      [`alg ${alg}, no signature`, `${input}.`],
      [`alg ${alg}, with a signature`, `${input}.${signature}`]
    ]
  })
  const forged = (alg: string, key: string | Buffer) => {
    const input = `${part({ ...header, alg })}.${body}`
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  }
  const pem = publicKey?.export({ format: 'pem', type: 'spki' }) ?? secret.slice(1)
  return [
    ...unsigned,
    ['HMAC with the public key', forged('HS256', pem)],
    ['HMAC with the public key, trimmed', forged('HS256', pem.toString().trim())],
    ['HMAC with an empty key', forged('HS256', '')],
    ['HMAC with an empty key, alg of the real key', forged(String(header['alg']), '')],
    ['signature is empty', `${head}.${body}.`],
    ['signature is missing', `${head}.${body}`],
    ['signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['signature is truncated', `${head}.${body}.${signature.slice(0, -4)}`],
    ['signature is changed', `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
    ['payload is changed', `${head}.${part({ ...claims, sub: 'admin' })}.${signature}`],
    ['header is changed', `${part({ ...header, x: 1 })}.${body}.${signature}`]
  ]
}

function spellings({ header, claims, signed }: GoodToken): Case[] {
  const token = signed(header, claims)
  const [head = '', body = '', signature = ''] = token.split('.')
  return [
    ['padding', `${token}=`],
    ['padding of the header', `${head}==.${body}.${signature}`],
    ['unused bits set at the end', `${head}.${body}.${respelled(signature)}`],
    ['a space inside', `${head}. ${body}.${signature}`],
    ['a tab inside', `${head}.${body}\t.${signature}`],
    ['a quote before and after', `"${token}"`],
    ['two dots', `${head}..${body}.${signature}`],
    ['a dot at the end', `${token}.`],
    ['a dot before', `.${token}`],
    ['a fourth part', `${token}.${signature}`],
    ['one part', signature],
    ['dots only', '..'],
    ['a character outside of base64url', `${head}.${body.slice(0, 5)}!${body.slice(5)}.${signature}`],
    ['base64 instead of base64url', `${head}.${body}.+/${signature.slice(2)}`],
    [
      'not UTF-8',
      `${head}.${Buffer.concat([Buffer.from('{"sub":"'), Buffer.from([0xff]), Buffer.from('"}')]).toString('base64url')}.${signature}`
    ],
    ['too long', signed(header, { ...claims, filler: 'x'.repeat(5000) })],
    ['deeply nested', signed(header, `${'['.repeat(1200)}${']'.repeat(1200)}`)]
  ]
}

function kinds({ header, claims, secret, signed }: GoodToken): Case[] {
  const inner = signed(header, claims)
  return [
    ['an ID token, by nonce', signed(header, { ...claims, nonce: 'n' })],
    ['an ID token, by at_hash', signed(header, { ...claims, at_hash: 'h' })],
    ['an ID token, by token_use', signed(header, { ...claims, token_use: 'id' })],
    ['a refresh token, by its claim typ', signed(header, { ...claims, typ: 'Refresh' })],
    ['a logout token, by events', signed(header, { ...claims, events: {} })],
    ['a nested token with cty', signed({ ...header, cty: 'JWT' }, inner)],
    ['a nested token without cty', signed(header, inner)],
    [
      'an encrypted token',
      [part({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt', kid: header['kid'] }), '', 'aXY', 'Y2lwaGVy', 'dGFn'].join('.')
    ],
    ['an encryption header on three parts', signed({ ...header, enc: 'A256GCM' }, claims)],
    ['the JSON form', JSON.stringify({ payload: part(claims), protected: part(header), signature: 'c2ln' })],
    ['an opaque string', secret.slice(0, 8)]
  ]
}

// Encodes the same bytes with other unused bits in the last character; without unused bits, appends a character.
function respelled(signature: string) {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  if (signature.length % 4 === 0) return `${signature}A`
  return signature.slice(0, -1) + alphabet.charAt(alphabet.indexOf(signature.at(-1) as string) ^ 1)
}

function part(value: unknown) {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
