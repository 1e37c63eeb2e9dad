import { createPrivateKey, createPublicKey, type JsonWebKey, KeyObject } from 'node:crypto'
import { optionChecks } from '@concordat/plugin-kit/options'

export type OwnAlgorithm = 'HS256' | 'RS256' | 'ES256' | 'EdDSA'

/** A key of the service. A key pair needs its private part only where tokens are signed. */
export type OwnKey =
  | {
      /** The id of the key, sent as `kid` in the header of every token that the key signs. */
      readonly kid: string
      readonly algorithm: 'HS256'
      /** The secret: at least 32 random bytes, or a string that encodes at least 32 random bytes. */
      readonly secret: string | Uint8Array
    }
  | {
      readonly kid: string
      readonly algorithm: 'RS256' | 'ES256' | 'EdDSA'
      /** The private key: PKCS #8 in PEM, or a `KeyObject` from `node:crypto`. */
      readonly privateKey?: string | KeyObject | undefined
      /** The public key: SPKI in PEM, or a `KeyObject`. Not needed with `privateKey`. */
      readonly publicKey?: string | KeyObject | undefined
    }

/** A key in the form that `@fastify/jwt` accepts. */
export interface SigningKey {
  readonly kid: string
  readonly algorithm: OwnAlgorithm
  readonly canSign: boolean
  readonly secret: Buffer | { readonly public: string; readonly private?: string }
}

/** A JSON Web Key Set (RFC 7517 §5). */
export interface PublicKeySet {
  readonly keys: readonly JsonWebKey[]
}

/** Returns the public parts of the key pairs, for verifiers in other services. A shared secret has no public part. */
export function publicKeySetOf(keys: readonly SigningKey[]): PublicKeySet {
  return {
    keys: keys.flatMap(({ kid, algorithm, secret }) =>
      'public' in secret ? [{ ...createPublicKey(secret.public).export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }] : []
    )
  }
}

/** Converts the keys. Throws a `TypeError` of one line for a weak secret, a key that does not fit its algorithm, and a repeated `kid`. */
export function readKeys(keys: readonly OwnKey[]): readonly SigningKey[] {
  if (!Array.isArray(keys) || keys.length === 0)
    throw new TypeError('authentication: options.keys must be a non-empty array. Put the signing key first.')
  const kids = new Set<string>()
  return keys.map((key) => {
    if (typeof key.kid !== 'string' || !/^[\w.-]{1,64}$/.test(key.kid) || kids.has(key.kid)) {
      throw new TypeError(
        `authentication: options.keys: kid "${key.kid}" is invalid or repeated. Use a unique kid of letters, digits and "._-".`
      )
    }
    kids.add(key.kid)
    return readKey(key)
  })
}

function readKey(key: OwnKey): SigningKey {
  const { kid, algorithm } = key
  if (algorithm === 'HS256') {
    const secret = optionChecks('authentication').secret(`options.keys: the secret of the key ${kid}`, key.secret)
    return { kid, algorithm, canSign: true, secret: Buffer.from(secret as string) }
  }
  if (!Object.hasOwn(kinds, algorithm)) {
    throw new TypeError(
      `authentication: options.keys: the key ${kid} has the unsupported algorithm "${algorithm}". Use HS256, RS256, ES256 or EdDSA.`
    )
  }
  const { privateKey, publicKey } = readPair(key)
  if (!kinds[algorithm](publicKey))
    throw new TypeError(`authentication: options.keys: the key ${kid} cannot be used with ${algorithm}. Use ${wanted[algorithm]}.`)
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string
  if (privateKey === undefined) return { kid, algorithm, canSign: false, secret: { public: pem } }
  if (createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }) !== pem) {
    throw new TypeError(
      `authentication: options.keys: the publicKey of the key ${kid} does not match its privateKey. Correct or remove publicKey.`
    )
  }
  return { kid, algorithm, canSign: true, secret: { public: pem, private: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string } }
}

function readPair({ kid, privateKey, publicKey }: Exclude<OwnKey, { algorithm: 'HS256' }>) {
  try {
    const secretPart = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey
    const publicPart = publicKey ?? secretPart
    if (publicPart === undefined || (secretPart !== undefined && secretPart.type !== 'private')) throw new TypeError('a part is missing')
    return {
      privateKey: secretPart,
      // A private key in this place is reduced to its public part, so that no copy of it remains.
      publicKey: publicPart instanceof KeyObject && publicPart.type === 'public' ? publicPart : createPublicKey(publicPart)
    }
  } catch {
    // The error of node:crypto is omitted: it is long, and could quote the key.
    throw new TypeError(`authentication: options.keys: the key ${kid} cannot be read. Set privateKey (PKCS #8) or publicKey (SPKI) in PEM.`)
  }
}

const kinds: Record<Exclude<OwnAlgorithm, 'HS256'>, (key: KeyObject) => boolean> = {
  RS256: ({ asymmetricKeyType, asymmetricKeyDetails }) => asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048,
  ES256: ({ asymmetricKeyType, asymmetricKeyDetails }) => asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1',
  EdDSA: ({ asymmetricKeyType }) => asymmetricKeyType === 'ed25519'
}
const wanted = { RS256: 'an RSA key of at least 2048 bits', ES256: 'a key on the curve P-256', EdDSA: 'an Ed25519 key' }
