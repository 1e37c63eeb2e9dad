import { hash } from 'node:crypto'

/** A Lua script, and the name under which Redis remembers it. */
export interface Script {
  readonly source: string
  readonly sha: string
}

export function script(source: string): Script {
  return { source, sha: hash('sha1', source) }
}

/** Runs a script by its name, and sends it whole when Redis does not know it: after a restart, or the first time. */
export async function runScript(byName: () => Promise<unknown>, whole: () => Promise<unknown>): Promise<unknown> {
  try {
    return await byName()
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return whole()
    throw error
  }
}
