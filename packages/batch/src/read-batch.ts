import { isObject } from '@concordat/plugin-kit/json-schema'
import { batchErrors, type Problem, report } from './errors.ts'
import { readHeaders } from './operation-headers.ts'
import { pathProblem } from './operation-path.ts'
import type { RouteSettings } from './options.ts'

/** An operation of a batch that has been validated. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  /** Headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Body, as JSON text. */
  readonly body: string | undefined
}

/** A batch that has been validated. */
export interface Batch {
  readonly operations: readonly Operation[]
  readonly isAtomic: boolean
}

/** The methods that operations may use. */
export const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The maximum number of operations of a batch. */
export const maxOperations = 100

const members = new Set(['operations', 'atomic'])
const operationMembers = new Set(['id', 'method', 'path', 'headers', 'body'])
const withoutBody = new Set(['GET', 'DELETE'])

/** Parses the body of a batch. Throws 422 `BATCH_INVALID` that lists its problems, at most 100. */
export function readBatch(body: unknown, rules: RouteSettings): Batch {
  const problems: Problem[] = []
  const batch = isObject(body) ? readMembers(body, rules, problems) : undefined
  if (batch === undefined) report(problems, { field: 'body', key: 'object' })
  if (batch === undefined || problems.length > 0) throw batchErrors.create('BATCH_INVALID', { errors: problems })
  return batch
}

function readMembers(body: Readonly<Record<string, unknown>>, rules: RouteSettings, problems: Problem[]): Batch {
  refuseUnknown(body, members, 'body', problems)
  const isAtomic = readAtomic(body['atomic'], rules.atomic, problems)
  const { operations: list } = body
  if (!Array.isArray(list) || list.length === 0 || list.length > maxOperations) {
    report(problems, { field: 'body.operations', key: 'operations', params: { limit: maxOperations } })
  }
  const ids = new Set<string>()
  const read = (operation: unknown, index: number) => readOperation(operation, `body.operations.${index}`, rules, ids, problems)
  return { operations: Array.isArray(list) ? list.slice(0, maxOperations).map(read) : [], isAtomic }
}

function readAtomic(atomic: unknown, offered: RouteSettings['atomic'], problems: Problem[]) {
  if (atomic !== undefined && typeof atomic !== 'boolean') report(problems, { field: 'body.atomic', key: 'atomic' })
  if (atomic === true && offered === 'never') report(problems, { field: 'body.atomic', key: 'neverAtomic' })
  if (atomic === false && offered === 'always') report(problems, { field: 'body.atomic', key: 'alwaysAtomic' })
  return atomic === true || offered === 'always'
}

function readOperation(operation: unknown, field: string, rules: RouteSettings, ids: Set<string>, problems: Problem[]): Operation {
  const members = isObject(operation) ? operation : {}
  if (members !== operation) report(problems, { field, key: 'object' })
  else refuseUnknown(members, operationMembers, field, problems)
  const { id, method, path, body } = members as Record<string, unknown>
  const found: Problem[] = []
  if (typeof id !== 'string' || !/^[\w.~-]{1,64}$/.test(id)) report(found, { field: `${field}.id`, key: 'id' })
  else if (ids.has(id)) report(found, { field: `${field}.id`, key: 'idRepeated' })
  else ids.add(id)
  if (!methods.includes(method as string)) {
    report(found, { field: `${field}.method`, key: 'method', params: { methods: methods.join(', ') } })
  } else if (body !== undefined && withoutBody.has(method as string)) {
    report(found, { field: `${field}.body`, key: 'bodyForbidden', params: { method: method as string } })
  }
  const wrongPath = pathProblem(path, `${field}.path`, rules)
  if (wrongPath !== undefined) report(found, wrongPath)
  const headers = readHeaders(members['headers'], `${field}.headers`, rules.forwardedHeaders, found)
  // A value that is not an object has only that problem, not also missing fields.
  if (members === operation) for (const problem of found) report(problems, problem)
  const text = body === undefined ? undefined : JSON.stringify(body)
  return { id: id as string, method: method as string, path: path as string, headers, body: text }
}

function refuseUnknown(value: object, known: ReadonlySet<string>, field: string, problems: Problem[]) {
  for (const name of Object.keys(value)) {
    if (!known.has(name)) report(problems, { field: /^[\w-]{1,64}$/.test(name) ? `${field}.${name}` : field, key: 'unknown' })
  }
}
