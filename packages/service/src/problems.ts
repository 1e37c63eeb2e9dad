import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { weaknessOf } from '@concordat/plugin-kit/options'
import { transportSecurityServerOptions } from '@concordat/transport-security'
import { type Problem, urlVariables, type Values, wrongValue } from './variables.ts'

/** Returns what is wrong with values that have the right form. */
export function problemsOf(
  values: Values,
  secrets: readonly string[],
  refusedInProduction: Readonly<Record<string, unknown>>,
  isLocal: boolean
): readonly Problem[] {
  const isProduction = values.NODE_ENV === 'production'
  const found: readonly (Problem | undefined)[] = [
    ...urlVariables.map((name) => {
      const url = values[name] as string | undefined
      return url === undefined || URL.canParse(url) ? undefined : wrongValue(name, url)
    }),
    values.DATABASE_URL !== undefined || isWritable(values.DATA_DIR) ? undefined : wrongValue('DATA_DIR', values.DATA_DIR),
    proxyProblem(values),
    isProduction && values.PUBLIC_URL === undefined ? ['PUBLIC_URL', 'is missing'] : undefined,
    ...Object.entries(refusedInProduction).map(([name, refused]): Problem | undefined =>
      isProduction && values[name] === refused
        ? [
            name,
            refused === undefined ? 'is missing in production' : `is "${(refused as string | number | boolean).toString()}" in production`
          ]
        : undefined
    ),
    ...secrets.map((name) => secretProblem(name, values[name] as readonly string[] | undefined, isLocal))
  ]
  return found.filter((problem) => problem !== undefined)
}

function secretProblem(name: string, given: readonly string[] | undefined, isLocal: boolean): Problem | undefined {
  if (given === undefined) return isLocal ? undefined : [name, 'is missing']
  // Docker passes on the quotes of a file of variables, which a shell and Node.js remove.
  if ([given.join(), ...given].some((text) => /^(["'`])[^]*\1$/.test(text))) return [name, 'is in quotes']
  const fault = given.map(faultOf).find((found) => found !== undefined)
  return fault === undefined ? undefined : [name, `has a secret that ${fault}`]
}

function faultOf(secret: string) {
  const parts = secret.split(/[\s;]+/)
  const areSecrets = parts.length > 1 && parts.every((part) => weaknessOf(part) === undefined)
  return areSecrets ? 'consists of several, without a comma between them' : weaknessOf(secret)
}

// The option is checked again when the service starts, but that message does not name the variable.
function proxyProblem(values: Values): Problem | undefined {
  try {
    transportSecurityServerOptions({ trustProxy: values.TRUST_PROXY })
    return undefined
  } catch (error) {
    return ['TRUST_PROXY', (error as Error).message.replace(/^.*?options\.trustProxy (.*?)\. .*$/, '$1')]
  }
}

// A folder that does not exist is created in the nearest one that does.
function isWritable(folder: string): boolean {
  if (folder === 'memory://') return true
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && isWritable(dirname(resolve(folder)))
  }
}
