import { type Claims, isList } from './claims.ts'
import { invalidToken } from './errors.ts'

/**
 * Returns a function for the option `grantsOf` that reads the names of permissions and roles from these claims. Each is the name of a claim, or
 * the path to a nested member as an array. Its value is a list of strings, or one string with names separated by spaces, such as `scope`. A string
 * in `roles` is one name. A claim that is absent grants nothing. The function throws INVALID_TOKEN for any other value.
 *
 * @example
 * grantsIn('scope', ['realm_access', 'roles'])
 */
export function grantsIn(...claimPaths: readonly (string | readonly string[])[]): (claims: Claims) => readonly string[] {
  const paths = claimPaths.map((path) => [path].flat())
  return (claims) => paths.flatMap((path) => namesAt(claims, path))
}

function namesAt(claims: Claims, path: readonly string[]) {
  const value = path.reduce<unknown>(memberOf, claims) ?? []
  const names = typeof value === 'string' ? value.split(' ').filter((name) => name !== '') : value
  if (!isList(names)) throw invalidToken(`${path.join('.')} is not a list of strings`)
  return names
}

function memberOf(value: unknown, name: string) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}
