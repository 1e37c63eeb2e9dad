import type { Contributions } from '@concordat/plugin-wiring'
import type { Version } from './lifecycle.ts'

/** Returns a function that returns the error of the routes whose version is retired one day, for their descriptions. */
export function retiredVersions(versions: readonly Version[]): Contributions['operations'] {
  const prefixes = versions.flatMap(({ name, ending }) => (ending === undefined ? [] : [`/${name}/`]))
  return ({ url }) => ({ errors: prefixes.some((prefix) => url.includes(prefix)) ? ['VERSION_RETIRED'] : [] })
}
