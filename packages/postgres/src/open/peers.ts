import type * as workQueue from '../work-queue.ts'

/** Imports optional peers for a function of this package. Rejects with an error that lists the packages when they are not installed. */
export async function importPeers<Module>(caller: string, packages: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(`postgres: ${caller} requires a package that is not installed. Run: npm install ${packages}`, { cause })
  }
}

/** Imports the work queue. Rejects with an error that lists the packages when they are not installed. */
export function importQueue(): Promise<typeof workQueue> {
  return importPeers('openQueue', '@concordat/work-queue pg-boss@12.35.0', () => import('../work-queue.ts'))
}
