import type { StandardIssue } from '@concordat/plugin-kit/json-schema'
import { stepOf } from './request-check.ts'

type Path = NonNullable<StandardIssue['path']>
/** The issue of a union: the issues of its branches are `errors` in Zod and ArkType, and `issues` in Valibot. */
type UnionIssue = StandardIssue & { readonly errors?: readonly unknown[]; readonly issues?: readonly unknown[] }

/**
 * Returns a copy of a value without the members that are null where issues are, or the value itself if there are none. A null item of a list
 * stays, because the others would move.
 */
export function withoutNulls(value: unknown, issues: readonly StandardIssue[]): unknown {
  const copies = new Set<unknown>()
  return issues.flatMap((issue) => pathsOf(issue, [])).reduce<unknown>((reduced, path) => without(reduced, path, copies), value)
}

function pathsOf({ path = [], errors = [], issues = [] }: UnionIssue, outer: Path): readonly Path[] {
  const whole = [...outer, ...path]
  // In ArkType, these paths start at the whole value, otherwise at the value of the union.
  const start = errors.some((one) => !Array.isArray(one)) ? [] : whole
  return [whole, ...[...errors.flat(), ...issues].flatMap((part) => pathsOf(part as UnionIssue, start))]
}

function without(value: unknown, [step, ...rest]: Path, copies: Set<unknown>): unknown {
  if (typeof value !== 'object' || value === null || step === undefined) return value
  const key = stepOf(step)
  const member = (value as Readonly<Record<string, unknown>>)[key]
  if (rest.length === 0 && (member !== null || Array.isArray(value))) return value
  const reduced = rest.length === 0 ? undefined : without(member, rest, copies)
  if (reduced === member) return value
  const copy = copies.has(value) ? value : Array.isArray(value) ? [...value] : { ...value }
  copies.add(copy)
  if (rest.length === 0) Reflect.deleteProperty(copy, key)
  else Object.assign(copy, { [key]: reduced })
  return copy
}
