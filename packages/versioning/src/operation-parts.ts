import type { Contributions } from '@concordat/plugin-kit/wiring'
import type { Version } from './lifecycle.ts'

/** Returns a function that returns the errors of the routes whose version ends one day, for their descriptions. */
export function errorsOfEndings(versions: readonly Version[]): Contributions['operations'] {
  const endings = versions.flatMap(({ name, ending }) => (ending === undefined ? [] : [{ prefix: `/${name}/`, ending }]))
  return ({ url, config }) => {
    const ending = endings.find(({ prefix }) => url.includes(prefix))?.ending
    if (ending === undefined) return {}
    const hasBrownouts = ending.brownouts.length > 0 && config?.operational !== true
    return { errors: ['VERSION_RETIRED', ...(hasBrownouts ? ['VERSION_BROWNOUT'] : [])] }
  }
}
