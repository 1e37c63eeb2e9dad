import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign as signBytes } from 'node:crypto'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { Claims } from '../claims.ts'
import type { Fetch } from '../remote-json.ts'
import type { OwnAlgorithm, OwnKey } from '../signing-keys.ts'
import type { BadToken } from './bad-token.ts'
import { badTokens } from './bad-tokens.ts'

if (process.env['NODE_ENV'] === 'production') {
  throw new Error('@concordat/authentication/testing signs tokens for any subject. It does not load with NODE_ENV=production.')
}

/** The algorithms of test tokens. */
type TestAlgorithm = OwnAlgorithm | 'PS256'

const testKitOptions = describeOptions('authentication', {
  issuer: required(value<string>()),
  audience: required(value<string>()),
  algorithm: value<TestAlgorithm>({ default: 'ES256' }),
  kid: value<string>({ default: 'test' })
})

/** Options of {@link testKit}. */
export interface TestKitOptions extends OptionsOf<typeof testKitOptions> {}

/** The claims of a test token that differ from the defaults, valid or not. */
type TestClaims = { readonly [Name in keyof Claims]?: unknown }

/** Creates valid and invalid tokens for tests, with its own key. */
export interface TestKit {
  /** The keys for `ownTokens({ keys })`, so that it accepts the tokens of the kit. Empty for PS256. */
  readonly keys: readonly OwnKey[]
  /** Returns the key set of the kit for any URL, for `outsideIssuer({ fetch })`. */
  readonly fetch: Fetch
  /** Returns a valid token. `claims` replace the defaults; a claim that is `undefined` is omitted. */
  readonly token: (claims?: TestClaims) => string
  /** Returns an `Authorization` header with a valid token, for `inject({ headers })`. */
  readonly headers: (claims?: TestClaims) => { readonly authorization: string }
  /** Returns a correctly signed token with this header and payload; a string is used unchanged, and any other value is serialized as JSON. */
  readonly signed: (header: unknown, payload: unknown) => string
  /** Returns tokens that every service must reject, each with one fault. */
  readonly badTokens: () => readonly BadToken[]
}

/** Creates a test kit with a new key. */
export function testKit(options: TestKitOptions): TestKit {
  const { issuer, audience, algorithm, kid } = testKitOptions.read(options)
  const pair = algorithm === 'HS256' ? undefined : generatePair(algorithm)
  const secret = randomBytes(48).toString('base64url')
  const header = { alg: algorithm, typ: 'at+jwt', kid }

  function signed(tokenHeader: unknown, payload: unknown) {
    const input = `${encoded(tokenHeader)}.${encoded(payload)}`
    const signature =
      pair === undefined ? createHmac('sha256', secret).update(input).digest() : signatureOf(algorithm, input, pair.privateKey)
    return `${input}.${signature.toString('base64url')}`
  }

  function claimsOf(claims: TestClaims = {}) {
    const now = Math.floor(Date.now() / 1000)
    const times = { iat: now, nbf: now, exp: now + 300 }
    return {
      iss: issuer,
      sub: 'test-user',
      aud: audience,
      ...times,
      jti: randomBytes(9).toString('base64url'),
      client_id: 'test-client',
      ...claims
    }
  }

  const token: TestKit['token'] = (claims) => signed(header, claimsOf(claims))
  return {
    keys: keysOf(),
    fetch: async () =>
      Response.json({ keys: pair === undefined ? [] : [{ ...pair.publicKey.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }] }),
    token,
    headers: (claims) => ({ authorization: `Bearer ${token(claims)}` }),
    signed,
    badTokens: () => badTokens({ header, claims: claimsOf(), publicKey: pair?.publicKey, secret, signed })
  }

  function keysOf(): readonly OwnKey[] {
    if (algorithm === 'HS256') return [{ kid, algorithm, secret }]
    if (algorithm === 'PS256' || pair === undefined) return []
    return [{ kid, algorithm, privateKey: pair.privateKey }]
  }
}

function generatePair(algorithm: TestAlgorithm) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

function signatureOf(algorithm: TestAlgorithm, input: string, key: KeyObject) {
  const bytes = Buffer.from(input)
  if (algorithm === 'EdDSA') return signBytes(null, bytes, key)
  if (algorithm === 'ES256') return signBytes('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })
  // 6 is RSA_PKCS1_PSS_PADDING, 1 the older RSA_PKCS1_PADDING.
  return signBytes('sha256', bytes, algorithm === 'PS256' ? { key, padding: 6, saltLength: 32 } : { key, padding: 1 })
}

function encoded(part: unknown) {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url')
}
