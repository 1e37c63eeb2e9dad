import { hash } from 'node:crypto'

/** A Lua script, and the hash by which Redis caches it. */
export interface Script {
  readonly source: string
  readonly sha: string
}

export function script(source: string): Script {
  return { source, sha: hash('sha1', source) }
}

/** Runs a script by its hash, or sends its source if Redis has not cached the script, for example after a restart. */
export async function runScript(byName: () => Promise<unknown>, whole: () => Promise<unknown>): Promise<unknown> {
  try {
    return await byName()
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return whole()
    throw error
  }
}
