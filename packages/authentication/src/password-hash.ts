import { randomBytes } from 'node:crypto'
import { parseOptions } from '@node-rs/argon2'

/** What a hash costs whoever computes it. */
export interface HashCost {
  readonly memoryKibibytes: number
  readonly iterations: number
  readonly parallelism: number
}

// As the package numbers them; its own enums exist at compile time only.
export const argon2id = 2
const version13 = 1
export const hashBytes = 32
const saltBytes = 16

// OWASP Password Storage Cheat Sheet, Argon2id: each pair is as strong as the others.
const leastCosts: readonly (readonly [memoryKibibytes: number, iterations: number])[] = [
  [47_104, 1],
  [19_456, 2],
  [12_288, 3],
  [9216, 4],
  [7168, 5]
]

/** Tells whether a hash is as strong as OWASP asks. */
export function isStrong({ memoryKibibytes, iterations }: HashCost): boolean {
  return leastCosts.some(([memory, passes]) => memoryKibibytes >= memory && iterations >= passes)
}

/** What a stored hash was made with; kinds and versions as @node-rs/argon2 numbers them. */
export interface FoundHash {
  readonly algorithm: number
  readonly version: number
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
  readonly outputLen: number
  readonly saltLen: number
}

/** What a stored hash was made with; `undefined` for what is no argon2 hash in PHC form. */
export function readHash(stored: string): FoundHash | undefined {
  try {
    return parseOptions(stored)
  } catch {
    return undefined
  }
}

/** Tells whether a stored hash is weaker than new ones, so that it should be replaced when its password is known. */
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

/** A hash of these costs that no password has: comparing with it takes as long as with a real one. */
export function decoyHash({ memoryKibibytes, iterations, parallelism }: HashCost): string {
  return `$argon2id$v=19$m=${memoryKibibytes},t=${iterations},p=${parallelism}$${randomBase64(saltBytes)}$${randomBase64(hashBytes)}`
}

function randomBase64(bytes: number) {
  return randomBytes(bytes).toString('base64').replaceAll('=', '')
}
