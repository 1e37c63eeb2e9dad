import { type OptionNames, optionChecks, requireKnownNames } from '@concordat/plugin-options'
import { hash as argon2Hash, verify as argon2Verify } from '@node-rs/argon2'
import { loginsOverloaded, type PasswordFault, passwordUnacceptable } from './errors.ts'
import { argon2id, decoyHash, type HashCost, hashBytes, isOutdated, isStrong, readHash } from './password-hash.ts'
import { workLimit } from './work-limit.ts'

const check = optionChecks('token-issuing')

/** Options of {@link passwords}. The defaults are OWASP's for argon2id. */
export interface PasswordOptions {
  /** The memory used to compute one hash, in KiB. @default 19456 – 19 MiB */
  readonly memoryKibibytes?: number | undefined
  /** The number of passes over the memory of a hash. @default 2 */
  readonly iterations?: number | undefined
  /** The number of threads used to compute one hash. @default 1 */
  readonly parallelism?: number | undefined
  /** The minimum length of a new password, in characters; NIST SP 800-63B-4 §3.1.1.2 requires 15 for a single factor. @default 15 */
  readonly minLength?: number | undefined
  /** The maximum length of a password, in characters. @default 256 */
  readonly maxLength?: number | undefined
  /** How many hashes are computed at the same time; Node has 4 threads for hashes, files and DNS together. @default 2 */
  readonly maxConcurrentHashes?: number | undefined
  /** How many hashes may wait in the queue; further requests get 503. @default 64 */
  readonly maxWaitingHashes?: number | undefined
}

/** The names of the options of {@link passwords}. */
export const passwordOptionNames: OptionNames<PasswordOptions> = {
  memoryKibibytes: true,
  iterations: true,
  parallelism: true,
  minLength: true,
  maxLength: true,
  maxConcurrentHashes: true,
  maxWaitingHashes: true
}

/** The result of a comparison; `outdated` means that the password is right, but the stored hash is weaker than new hashes or of another kind. */
export type PasswordVerdict = 'wrong' | 'right' | 'outdated'

/** Hashes and compares passwords (rule U8). */
export interface Passwords {
  /**
   * Returns the hash to store, in PHC format. Throws PASSWORD_UNACCEPTABLE (422), whose entry names `field`, and
   * LOGINS_OVERLOADED (503). `field` defaults to `body.password`.
   */
  readonly hash: (password: string, field?: string) => Promise<string>
  /**
   * Compares a password with a stored hash. Without a hash, because the user does not exist, or with one that is not argon2,
   * it takes the same time and returns `wrong`. Throws LOGINS_OVERLOADED (503).
   */
  readonly compare: (password: string, stored: string | undefined) => Promise<PasswordVerdict>
  /** Returns a new hash with the current cost, whatever the length of the password. Throws LOGINS_OVERLOADED (503). */
  readonly rehash: (password: string) => Promise<string>
}

/**
 * Creates the functions that hash and compare passwords with argon2id, with limited concurrency. Throws a `TypeError` of one line for invalid or
 * weak options.
 */
export function passwords(options: PasswordOptions = {}): Passwords {
  requireKnownNames('token-issuing', options, passwordOptionNames)
  const cost: HashCost = {
    memoryKibibytes: check.integer('options.memoryKibibytes', options.memoryKibibytes ?? 19_456, 8, 4_194_304),
    iterations: check.integer('options.iterations', options.iterations ?? 2, 1, 1000),
    parallelism: check.integer('options.parallelism', options.parallelism ?? 1, 1, 255)
  }
  if (!isStrong(cost)) {
    throw new TypeError(
      'token-issuing: options.memoryKibibytes and options.iterations result in weak hashes. Set memoryKibibytes to at least 19456 and iterations to at least 2, or remove both.'
    )
  }
  const minimum = check.integer('options.minLength', options.minLength ?? 15, 8, 256)
  const maximum = check.integer('options.maxLength', options.maxLength ?? 256, Math.max(64, minimum), 4096)
  const inTurn = workLimit(
    check.integer('options.maxConcurrentHashes', options.maxConcurrentHashes ?? 2, 1, 128),
    check.integer('options.maxWaitingHashes', options.maxWaitingHashes ?? 64, 0, 10_000),
    loginsOverloaded
  )
  const decoy = decoyHash(cost)
  const settings = {
    algorithm: argon2id,
    memoryCost: cost.memoryKibibytes,
    timeCost: cost.iterations,
    parallelism: cost.parallelism,
    outputLen: hashBytes
  }

  async function hash(password: string, field = 'body.password') {
    const fault = faultOf(password)
    if (fault !== undefined) throw passwordUnacceptable(field, fault)
    return rehash(password)
  }

  async function compare(password: string, stored: string | undefined): Promise<PasswordVerdict> {
    const found = stored === undefined ? undefined : readHash(stored)
    const fault = faultOf(password)
    // Every rejection costs one comparison, so that the time reveals nothing about users or their stored hashes.
    const comparable = stored !== undefined && found !== undefined && (fault === undefined || fault.key === 'passwordTooShort')
    const fits = await inTurn(() => argon2Verify(comparable ? stored : decoy, comparable ? prepared(password) : 'decoy'))
    if (!comparable || !fits) return 'wrong'
    return isOutdated(found, cost) ? 'outdated' : 'right'
  }

  function rehash(password: string) {
    return inTurn(() => argon2Hash(prepared(password), settings))
  }

  function faultOf(password: string): PasswordFault | undefined {
    if (!password.isWellFormed()) return { key: 'passwordIllFormed' }
    // A character has at most two code units, so longer strings need no counting.
    const length = password.length > 2 * maximum ? password.length : Array.from(prepared(password)).length
    if (length > maximum) return { key: 'passwordTooLong', params: { maximum } }
    return length < minimum ? { key: 'passwordTooShort', params: { minimum } } : undefined
  }

  return { hash, compare, rehash }
}

// RFC 8265 §4.2.2 (OpaqueString): a password is the same however a keyboard composes it. NFKC would make different passwords equal.
function prepared(password: string) {
  return password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')
}
