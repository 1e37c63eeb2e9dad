/** Imports an optional peer. Rejects with an error that names the package when it is not installed. */
export async function importPeer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(`testing: freshDatabase requires a package that is not installed. Run: npm install --save-dev ${name}`, { cause })
  }
}
