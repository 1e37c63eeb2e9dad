import { randomBytes } from 'node:crypto'
import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import { hash as argon2Hash, verify as argon2Verify, parseOptions } from '@node-rs/argon2'
import { loginsOverloaded, type PasswordFault, passwordUnacceptable } from './errors.ts'

// OWASP Password Storage Cheat Sheet. Algorithm and version are numbers of @node-rs/argon2, whose own enums exist at compile time only.
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const
const version13 = 1
const saltBytes = 16
const maximum = 256
// Node has 4 threads for hashes, files and DNS together.
const [concurrent, waiting] = [2, 64]

const passwordOptions = describeOptions('token-issuing', {
  /** The minimum length of a new password, in characters; NIST SP 800-63B-4 §3.1.1.2 requires 15 for a single factor. */
  minLength: integer({ default: 15, min: 8, max: maximum })
})

/** Options of {@link passwords}. */
interface PasswordOptions extends OptionsOf<typeof passwordOptions> {}

type Verdict = 'wrong' | 'right' | 'outdated'

/** Hashes and compares passwords (rule U8). */
interface Passwords {
  /** Returns the hash to store. Throws PASSWORD_UNACCEPTABLE (422), whose entry names `field` (`body.password`), and LOGINS_OVERLOADED (503). */
  readonly hash: (password: string, field?: string) => Promise<string>
  /**
   * Compares a password with a stored hash. Without a hash, because the user does not exist, or with one that is not argon2,
   * it takes the same time and returns `wrong`. `outdated` is a right password whose hash is weaker than new ones; a wrong one takes the same time too.
   * Only a hash of higher cost than new ones takes longer. Throws LOGINS_OVERLOADED (503).
   */
  readonly compare: (password: string, stored: string | undefined) => Promise<Verdict>
  /** Returns a new hash with the current cost, whatever the length of the password. Throws LOGINS_OVERLOADED (503). */
  readonly rehash: (password: string) => Promise<string>
}

/**
 * Creates the functions that hash and compare passwords with argon2id and OWASP's cost. At most two passwords are hashed or compared at the same time,
 * and 64 wait. Throws a `TypeError` of one line for invalid options.
 */
export function passwords(options: PasswordOptions = {}): Passwords {
  const { minLength: minimum } = passwordOptions.read(options)
  const inTurn = workLimit()
  const decoy = decoyHash()

  async function hash(password: string, field = 'body.password') {
    const fault = faultOf(password)
    if (fault !== undefined) throw passwordUnacceptable(field, fault)
    return rehash(password)
  }

  async function compare(password: string, stored: string | undefined): Promise<Verdict> {
    const found = stored === undefined ? undefined : readHash(stored)
    const fault = faultOf(password)
    // Every rejection costs one comparison, so that the time reveals nothing about users or their stored hashes.
    const comparable = stored !== undefined && found !== undefined && (fault === undefined || fault.key === 'passwordTooShort')
    const isOld = comparable && isOutdated(found)
    const [fits] = await inTurn(() =>
      Promise.all([
        argon2Verify(comparable ? stored : decoy, comparable ? prepared(password) : 'decoy'),
        // At the same time, so that a hash of lower cost takes no less time than a name that does not exist.
        ...(isOld ? [argon2Verify(decoy, 'decoy')] : [])
      ])
    )
    if (!comparable || !fits) return 'wrong'
    return isOld ? 'outdated' : 'right'
  }

  function rehash(password: string) {
    return inTurn(() => argon2Hash(prepared(password), cost))
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

// Runs two tasks at the same time, and lets 64 wait in order of arrival. More are rejected immediately.
function workLimit() {
  const queue: (() => void)[] = []
  let running = 0

  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= concurrent) {
      if (queue.length >= waiting) throw loginsOverloaded()
      // A finished task hands its place to the next in the queue, so that no later task can take it.
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next) next()
      else running -= 1
    }
  }
}

// RFC 8265 §4.2.2 (OpaqueString): a password is the same however a keyboard composes it. NFKC would make different passwords equal.
function prepared(password: string) {
  return password.replaceAll(/\p{Zs}/gu, ' ').normalize('NFC')
}

type FoundHash = Readonly<Record<'algorithm' | 'version' | 'memoryCost' | 'timeCost' | 'parallelism' | 'outputLen' | 'saltLen', number>>

// Returns the parameters of a stored hash, or `undefined` if it is not an argon2 hash in PHC format.
function readHash(stored: string): FoundHash | undefined {
  try {
    return parseOptions(stored)
  } catch {
    return undefined
  }
}

// Returns whether a stored hash is weaker than new hashes, so that it should be replaced when its password is known.
function isOutdated(found: FoundHash) {
  return (
    found.algorithm !== cost.algorithm ||
    found.version !== version13 ||
    found.memoryCost < cost.memoryCost ||
    found.timeCost < cost.timeCost ||
    found.parallelism < cost.parallelism ||
    found.outputLen < cost.outputLen ||
    found.saltLen < saltBytes
  )
}

// Returns a hash that belongs to no password. Comparing with it takes as long as with a real hash.
function decoyHash() {
  const { memoryCost, timeCost, parallelism, outputLen } = cost
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${randomBase64(saltBytes)}$${randomBase64(outputLen)}`
}

function randomBase64(bytes: number) {
  return randomBytes(bytes).toString('base64').replaceAll('=', '')
}
