import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject } from '@concordat/plugin-kit/json-schema'

/** The file beside released descriptions that has the digest of each, by the name of its version. */
export const digestsFile = 'digests.json'

/** Returns the digests of released descriptions by the name of their version: none before the first release. Throws a `TypeError` of one line where they cannot be read. */
export function releasedDigests(folder: URL | string): Readonly<Record<string, string>> {
  const file = join(typeof folder === 'string' ? folder : fileURLToPath(folder), digestsFile)
  try {
    const digests: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isObject(digests) && Object.values(digests).every((one) => /^sha-256=:[\w+/]{43}=:$/.test(String(one))))
      return digests as Record<string, string>
    throw new Error('it does not have a digest for each version.')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new TypeError(
      `openapi: options.released: ${file} cannot be read: ${(error as Error).message} Write it with npx concordat release.`,
      { cause: error }
    )
  }
}
