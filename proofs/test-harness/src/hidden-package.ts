import { registerHooks } from 'node:module'

/** Makes this process behave as if a package were not installed, until the end of the test. */
export function hidePackage(t: { teardown: (end: () => void) => void }, name: string): void {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name) return next(specifier, context)
      throw Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' })
    }
  })
  t.teardown(() => hooks.deregister())
}
