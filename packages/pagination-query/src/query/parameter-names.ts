import { nearestName } from '@concordat/plugin-options'
import type { BoundCollection, Parameter } from '../declaration/bound-collection.ts'
import { reservedNames } from '../declaration/rules.ts'
import type { QueryProblem } from '../errors.ts'
import { echo } from './query-string.ts'

/** Returns whether a client that may not read the fields in `hidden` can use a parameter. */
export function isVisible(parameter: Parameter, hidden: ReadonlySet<string>): boolean {
  return parameter.role !== 'filter' || hidden.size === 0 || !hidden.has(parameter.field.name)
}

/** Returns the error for a parameter name that is unknown in the collection or hidden from this client. */
export function problemOfName(collection: BoundCollection, name: string, hidden: ReadonlySet<string>, search: boolean): QueryProblem {
  const field = echo(name)
  if (reservedNames.has(name)) {
    return { field, key: 'wrongStyle', params: { allowed: collection.style === 'page' ? 'page, perPage' : 'after, perPage' } }
  }
  const bracket = name.search(/[[\]]/)
  if (name === '' || (bracket !== -1 && !/^[^[\]]+\[[^[\]]+\]$/.test(name))) return { field, key: 'malformed' }
  const visible = collection.inOrder.filter((parameter) => isVisible(parameter, hidden))
  const base = bracket === -1 ? name : name.slice(0, bracket)
  const operators = visible.flatMap((parameter) =>
    parameter.role === 'filter' && parameter.field.name === base ? [parameter.operator] : []
  )
  if (operators.length > 0) return { field, key: 'unknownOperator', params: { allowed: operators.join(', ') } }
  const nearest = search
    ? nearestName(
        name,
        visible.map((parameter) => parameter.name)
      )
    : undefined
  return nearest === undefined ? { field, key: 'unknownParameter' } : { field, key: 'unknownParameterNear', params: { nearest } }
}
