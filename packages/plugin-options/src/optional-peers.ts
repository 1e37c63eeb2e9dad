type Importer = Pick<ImportMeta, 'resolve'>

/** Returns whether an optional peer is installed. `importer` is `import.meta` of the module that imports the peer. */
export function hasPeer(peer: string, importer: Importer): boolean {
  try {
    importer.resolve(peer)
    return true
  } catch {
    return false
  }
}

/** Requires that an optional peer is installed. Throws a `TypeError` of one line: `jobs: options.store requires pg, which is not installed. …` */
export function requirePeer(where: string, peer: string, importer: Importer): void {
  if (!hasPeer(peer, importer)) throw new TypeError(`${where} requires ${peer}, which is not installed. Run: npm install ${peer}`)
}

/**
 * Imports optional peers where they are used. Rejects with an error of one line when one is not installed: `postgres: openQueue requires a package
 * that is not installed. Run: npm install pg-boss`. `packages` is what `npm install` must be given.
 */
export async function importPeers<Module>(where: string, packages: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(`${where} requires a package that is not installed. Run: npm install ${packages}`, { cause })
  }
}
