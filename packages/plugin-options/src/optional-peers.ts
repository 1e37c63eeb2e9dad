type Resolve = (specifier: string) => string

/** Returns whether an optional peer is installed. `resolve` is `import.meta.resolve` of the module that imports the peer. */
export function hasPeer(peer: string, resolve: Resolve): boolean {
  try {
    resolve(peer)
    return true
  } catch {
    return false
  }
}

/** Requires that an optional peer is installed. Throws a `TypeError` of one line: `jobs: options.store requires pg, which is not installed. …` */
export function requirePeer(where: string, peer: string, resolve: Resolve): void {
  if (!hasPeer(peer, resolve)) throw new TypeError(`${where} requires ${peer}, which is not installed. Run: npm install ${peer}`)
}
