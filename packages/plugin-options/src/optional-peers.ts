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
