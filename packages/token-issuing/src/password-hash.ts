import { randomBytes } from 'node:crypto'
import { parseOptions } from '@node-rs/argon2'

/** The cost parameters of a password hash. */
export interface HashCost {
  readonly memoryKibibytes: number
  readonly iterations: number
  readonly parallelism: number
}

// The numbers of @node-rs/argon2, whose own enums exist at compile time only.
export const argon2id = 2
const version13 = 1
export const hashBytes = 32
const saltBytes = 16

// OWASP Password Storage Cheat Sheet, Argon2id: all pairs are equally strong.
const leastCosts: readonly (readonly [memoryKibibytes: number, iterations: number])[] = [
  [47_104, 1],
  [19_456, 2],
  [12_288, 3],
  [9216, 4],
  [7168, 5]
]

/** Returns whether the cost meets OWASP's recommendation. */
export function isStrong({ memoryKibibytes, iterations }: HashCost): boolean {
  return leastCosts.some(([memory, passes]) => memoryKibibytes >= memory && iterations >= passes)
}

/** The parameters of a stored hash; algorithm and version are the numbers of @node-rs/argon2. */
export interface FoundHash {
  readonly algorithm: number
  readonly version: number
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
  readonly outputLen: number
  readonly saltLen: number
}

/** Returns the parameters of a stored hash, or `undefined` if it is not an argon2 hash in PHC format. */
export function readHash(stored: string): FoundHash | undefined {
  try {
    return parseOptions(stored)
  } catch {
    return undefined
  }
}

/** Returns whether a stored hash is weaker than new hashes, so that it should be replaced when its password is known. */
export function isOutdated(found: FoundHash, cost: HashCost): boolean {
  return (
    found.algorithm !== argon2id ||
    found.version !== version13 ||
    found.memoryCost < cost.memoryKibibytes ||
    found.timeCost < cost.iterations ||
    found.parallelism < cost.parallelism ||
    found.outputLen < hashBytes ||
    found.saltLen < saltBytes
  )
}

/** Returns a hash of this cost that belongs to no password. Comparing with it takes as long as with a real hash. */
export function decoyHash({ memoryKibibytes, iterations, parallelism }: HashCost): string {
  return `$argon2id$v=19$m=${memoryKibibytes},t=${iterations},p=${parallelism}$${randomBase64(saltBytes)}$${randomBase64(hashBytes)}`
}

function randomBase64(bytes: number) {
  return randomBytes(bytes).toString('base64').replaceAll('=', '')
}
