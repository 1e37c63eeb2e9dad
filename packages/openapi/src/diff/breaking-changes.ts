import { withoutKnownBounds } from '../describe/bounds.ts'
import {
  type Content,
  follow,
  type Header,
  type OpenapiDocument,
  type Operation,
  operationsIn,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type RequestBody,
  type Response
} from '../document/document.ts'
import { requireStructure } from '../document/document-structure.ts'
import { reportLine } from '../document/report-line.ts'
import { type Report, SchemaComparison } from './schema-changes.ts'
import { textOf } from './schema-identity.ts'
import type { Mode } from './schema-members.ts'

/** A change that breaks clients of a released version (rule V3). */
interface BreakingChange {
  /** Where the change is, for example `GET /v1/orders 200 application/json.data[].total`. */
  readonly place: string
  /** A phrase that says what changed. */
  readonly problem: string
}

interface Comparison {
  readonly was: OpenapiDocument
  readonly is: OpenapiDocument
  readonly schemas: SchemaComparison
  readonly report: Report
}

/**
 * Returns the breaking changes between a released document and a new one. Requests may only become wider, and responses only narrower, except for
 * what rule V4 allows. Does not detect a change of meaning that no schema expresses.
 */
export function breakingChanges(released: OpenapiDocument, current: OpenapiDocument): readonly BreakingChange[] {
  requireStructure(released, 'the released document')
  requireStructure(current, 'the present document')
  const [was, is] = [withoutKnownBounds(released), withoutKnownBounds(current)]
  const changes = new Map<string, BreakingChange>()
  const report: Report = (place, problem) => changes.set(`${place}: ${problem}`, { place, problem })
  const comparison: Comparison = { was, is, report, schemas: new SchemaComparison(was, is, report) }
  const present = new Map(operationsOf(is).map((operation) => [addressOf(operation), operation]))
  for (const old of operationsOf(was)) {
    const place = `${old.method.toUpperCase()} ${old.path}`
    const now = present.get(addressOf(old))
    if (now === undefined) comparison.report(place, 'was removed')
    else for (const compare of [compareParameters, compareRequests, compareResponses, compareAccess]) compare(comparison, place, old, now)
  }
  compareBase(comparison)
  compareWebhooks(comparison)
  return [...changes.values()]
}

/** Throws an `Error` that lists every breaking change to the released document. For the tests of a service. */
export function requireCompatible(released: OpenapiDocument, present: OpenapiDocument): void {
  const changes = breakingChanges(released, present)
  if (changes.length > 0) throw new Error(changesText(changes))
}

/** Returns a human-readable report of the changes. */
export function changesText(changes: readonly BreakingChange[]): string {
  if (changes.length === 0) return 'No breaking changes.'
  const lines = changes.map(({ place, problem }) => reportLine(`  ${place}: ${problem}`))
  return `${changes.length} breaking ${changes.length === 1 ? 'change' : 'changes'} (rule V3). Revert each change, or release a new version.\n${lines.join('\n')}`
}

// The name of a path parameter is not part of the address.
function addressOf({ method, path }: PlacedOperation) {
  return `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
}

function compareParameters(comparison: Comparison, place: string, old: PlacedOperation, now: PlacedOperation) {
  const { report } = comparison
  const present = new Map(now.parameters.map((parameter) => [keyOf(parameter, now.path), parameter]))
  for (const parameter of old.parameters) {
    const key = keyOf(parameter, old.path)
    const next = present.get(key)
    const where = `${place} ${parameter.in} ${parameter.name}`
    present.delete(key)
    if (next === undefined) {
      report(where, 'was removed')
      continue
    }
    if (next.required === true && parameter.required !== true) report(where, 'is now required')
    for (const key of ['allowEmptyValue', 'allowReserved'] as const)
      if (parameter[key] === true && next[key] !== true) report(where, `lost ${key}`)
    compareValues(comparison, 'request', where, parameter, next)
  }
  for (const { required, in: where, name } of present.values())
    if (required === true) report(`${place} ${where} ${name}`, 'is new and required')
}

function keyOf({ in: where, name }: Parameter, path: string) {
  if (where === 'path') return `path ${[...path.matchAll(/\{([^}]*)\}/g)].findIndex(([, one]) => one === name)}`
  return `${where} ${where === 'header' ? name.toLowerCase() : name}`
}

// The value of a parameter or a header has a schema or a media type.
function compareValues(comparison: Comparison, mode: Mode, place: string, before: Parameter | Header, after: Parameter | Header) {
  if (serializationOf(before) !== serializationOf(after)) comparison.report(place, 'is serialized in another style')
  else if (before.content !== undefined) compareContent(comparison, mode, place, before.content, after.content)
  else comparison.schemas.compare(mode, place, before.schema, after.schema)
}

function serializationOf(value: Parameter | Header) {
  if (value.content !== undefined) return 'content'
  const style = value.style ?? ('in' in value && ['query', 'cookie'].includes(value.in) ? 'form' : 'simple')
  return `${style} ${value.explode ?? style === 'form'}`
}

function compareRequests(comparison: Comparison, operation: string, old: PlacedOperation, now: PlacedOperation) {
  const { was, is, report } = comparison
  const place = `${operation} body`
  const before = follow<RequestBody>(was, old.operation.requestBody)
  const after = follow<RequestBody>(is, now.operation.requestBody)
  if (before === undefined) {
    if (after?.required === true) report(place, 'is new and required')
    return
  }
  if (after === undefined) return report(place, 'was removed')
  if (after.required === true && before.required !== true) report(place, 'is now required')
  compareContent(comparison, 'request', place, before.content, after.content)
}

function compareResponses(comparison: Comparison, place: string, old: PlacedOperation, now: PlacedOperation) {
  const { was, is, report } = comparison
  const { responses: before = {} } = old.operation
  const { responses: after = {} } = now.operation
  for (const [status, given] of Object.entries(before)) {
    const next = after[status] ?? after[`${status[0]}XX`]
    const [one, other] = [follow<Response>(was, given), follow<Response>(is, next)]
    if (next === undefined) report(`${place} ${status}`, 'is no longer returned')
    else if (one === undefined || other === undefined) report(`${place} ${status}`, 'has a $ref that cannot be resolved')
    else compareResponse(comparison, `${place} ${status}`, status, one, other)
  }
  for (const status of Object.keys(after)) {
    const isExpected = [status, `${status[0]}XX`, 'default'].some((known) => before[known] !== undefined)
    // A new error is allowed (V4), and only conditional requests get 304.
    if (!isExpected && /^[123]/.test(status) && status !== '304') report(`${place} ${status}`, 'is not expected by existing clients')
  }
}

function compareResponse(comparison: Comparison, place: string, status: string, before: Response, after: Response) {
  const { was, is, report } = comparison
  const present = new Map(Object.entries(after.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]))
  for (const [name, header] of Object.entries(before.headers ?? {})) {
    const where = `${place} header ${name}`
    const [one, other] = [follow<Header>(was, header), follow<Header>(is, present.get(name.toLowerCase()))]
    if (other === undefined) report(where, 'was removed')
    else if (one !== undefined) {
      if (one.required === true && other.required !== true) report(where, 'is now optional')
      compareValues(comparison, 'response', where, one, other)
    }
  }
  // Errors have a single shape, in which a new code may appear at any time.
  compareContent(comparison, /^[45]/.test(status) ? 'error' : 'response', place, before.content, after.content)
}

function compareContent(comparison: Comparison, mode: Mode, place: string, before: Content = {}, after: Content = {}) {
  for (const [type, { schema, encoding }] of Object.entries(before)) {
    const [next, where] = [after[type], `${place} ${type}`]
    if (next === undefined) comparison.report(where, 'is no longer one of the media types')
    else {
      if (textOf(encoding ?? {}) !== textOf(next.encoding ?? {}))
        comparison.report(where, 'its encoding has changed, which cannot be judged')
      comparison.schemas.compare(mode, where, schema, next.schema)
    }
  }
}

function compareAccess({ was, is, report }: Comparison, place: string, old: PlacedOperation, now: PlacedOperation) {
  const [before, after] = [accessOf(old.operation, was), accessOf(now.operation, is)]
  const stillWorks = (credentials: Readonly<Record<string, readonly string[]>>) =>
    after.some((needed) =>
      Object.entries(needed).every(
        ([scheme, scopes]) => scopes.every((scope) => credentials[scheme]?.includes(scope)) && credentials[scheme] !== undefined
      )
    )
  if (!before.every(stillWorks)) report(place, 'requires other credentials')
  const known = permissionsOf(old.operation)
  const added = permissionsOf(now.operation).filter((permission) => !known.includes(permission))
  if (added.length > 0) report(place, `now requires the permission ${added.join(', ')}`)
}

function accessOf({ security }: Operation, document: OpenapiDocument) {
  const alternatives = security ?? document.security ?? []
  return alternatives.length === 0 ? [{}] : alternatives
}

function permissionsOf({ 'x-permissions': permissions }: Operation): readonly string[] {
  return Array.isArray(permissions) ? permissions : []
}

// Hosts differ between installations. The path before the version is part of every address.
function compareBase({ was, is, report }: Comparison) {
  const present = basesOf(is)
  for (const path of basesOf(was)) if (!present.includes(path)) report(`servers ${path || '/'}`, 'was removed')
}

function basesOf({ servers = [{ url: '/' }] }: OpenapiDocument) {
  return servers.map(({ url }) => url.replace(/^https?:\/\/[^/]*/, '').replace(/\/$/, ''))
}

// Clients read the body of a webhook, like the body of a response.
function compareWebhooks(comparison: Comparison) {
  const { was, is, report } = comparison
  for (const [name, item] of Object.entries(was.webhooks ?? {})) {
    const present = new Map(operationsIn(is.webhooks?.[name] ?? {}))
    for (const [method, operation] of operationsIn(item)) {
      const next = present.get(method)
      const [before, after] = [follow<RequestBody>(was, operation.requestBody), follow<RequestBody>(is, next?.requestBody)]
      if (next === undefined) report(`webhook ${name}`, 'is no longer sent')
      else compareContent(comparison, 'response', `webhook ${name}`, before?.content, after?.content)
    }
  }
}
