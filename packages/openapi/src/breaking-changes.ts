import {
  follow,
  type Header,
  type MediaType,
  type OpenapiDocument,
  type Operation,
  operationsIn,
  operationsOf,
  type Parameter,
  type PlacedOperation,
  type RequestBody,
  type Response
} from './document.ts'
import { compareSchemas, type Direction, type Report } from './schema-changes.ts'

/** A change that breaks clients of a released version (rule V3). */
export interface BreakingChange {
  /** Where the change is, for example `GET /v1/orders 200 application/json data[].total`. */
  readonly place: string
  /** A phrase that says what changed. */
  readonly problem: string
}

/**
 * Returns the breaking changes between a released document and a new one: removed operations, parameters, fields and status codes;
 * incompatible types, formats and bounds; newly required input; changed defaults; and stricter access. Reports none of the changes that
 * rule V4 allows: new operations, optional parameters and properties, narrower responses, new errors. Does not detect a change of meaning
 * that no schema expresses.
 */
export function breakingChanges(was: OpenapiDocument, is: OpenapiDocument): readonly BreakingChange[] {
  const changes: BreakingChange[] = []
  const report: Report = (place, problem) => changes.push({ place, problem })
  const present = new Map(operationsOf(is).map((operation) => [addressOf(operation), operation]))
  for (const old of operationsOf(was)) {
    const place = `${old.method.toUpperCase()} ${old.path}`
    const now = present.get(addressOf(old))
    if (now === undefined) report(place, 'was removed')
    else compareOperations({ old, now, was, is, place, report })
  }
  compareBase(was, is, report)
  compareWebhooks(was, is, report)
  return changes
}

/** Throws an `Error` that lists every breaking change to the released document. For the tests of a service. */
export function requireCompatible(released: OpenapiDocument, present: OpenapiDocument): void {
  const changes = breakingChanges(released, present)
  if (changes.length > 0) throw new Error(changesText(changes))
}

/** Returns a human-readable report of the changes. */
export function changesText(changes: readonly BreakingChange[]): string {
  if (changes.length === 0) return 'No breaking changes.'
  const lines = changes.map(({ place, problem }) => `  ${place}: ${problem}`)
  return `${changes.length} breaking ${changes.length === 1 ? 'change' : 'changes'} (rule V3). Revert each change, or release a new version.\n${lines.join('\n')}`
}

interface Comparison {
  readonly old: PlacedOperation
  readonly now: PlacedOperation
  readonly was: OpenapiDocument
  readonly is: OpenapiDocument
  readonly place: string
  readonly report: Report
}

// The name of a path parameter is not part of the address.
function addressOf({ method, path }: { readonly method: string; readonly path: string }) {
  return `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
}

function compareOperations(comparison: Comparison) {
  compareParameters(comparison)
  compareRequests(comparison)
  compareResponses(comparison)
  compareAccess(comparison)
}

function compareParameters({ old, now, was, is, place, report }: Comparison) {
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
    if (serializationOf(parameter) !== serializationOf(next)) report(where, 'is serialized in another style')
    compareSchemas({ schema: parameter.schema ?? {}, document: was }, { schema: next.schema ?? {}, document: is }, 'request', where, report)
  }
  for (const parameter of present.values()) {
    if (parameter.required === true) report(`${place} ${parameter.in} ${parameter.name}`, 'is new and required')
  }
}

function keyOf({ in: where, name }: Parameter, path: string) {
  if (where === 'path') return `path ${[...path.matchAll(/\{([^}]*)\}/g)].findIndex(([, one]) => one === name)}`
  return `${where} ${where === 'header' ? name.toLowerCase() : name}`
}

function serializationOf({ in: where, style, explode }: Parameter) {
  const usual = where === 'query' || where === 'cookie' ? 'form' : 'simple'
  return `${style ?? usual} ${explode ?? (style ?? usual) === 'form'}`
}

function compareRequests({ old, now, was, is, place, report }: Comparison) {
  const before = follow<RequestBody>(was, old.operation.requestBody)
  const after = follow<RequestBody>(is, now.operation.requestBody)
  if (before === undefined) {
    if (after?.required === true) report(`${place} body`, 'is new and required')
    return
  }
  if (after === undefined) return report(`${place} body`, 'was removed')
  if (after.required === true && before.required !== true) report(`${place} body`, 'is now required')
  compareContent({ before: before.content, after: after.content, was, is, direction: 'request', place: `${place} body`, report })
}

function compareResponses({ old, now, was, is, place, report }: Comparison) {
  const before = (old.operation.responses ?? {}) as Readonly<Record<string, Response>>
  const after = (now.operation.responses ?? {}) as Readonly<Record<string, Response>>
  for (const [status, given] of Object.entries(before)) {
    const next = after[status] ?? after[`${status[0]}XX`]
    if (next === undefined) report(`${place} ${status}`, 'is no longer returned')
    else compareResponse(follow<Response>(was, given), follow<Response>(is, next), status)
  }
  for (const status of Object.keys(after)) {
    const isExpected = before[status] !== undefined || before[`${status[0]}XX`] !== undefined || before['default'] !== undefined
    // A new error is allowed (V4), and only conditional requests get 304.
    if (!isExpected && /^[123]/.test(status) && status !== '304') report(`${place} ${status}`, 'is not expected by existing clients')
  }

  function compareResponse(response: Response | undefined, next: Response | undefined, status: string) {
    if (response === undefined || next === undefined) return report(`${place} ${status}`, 'has a $ref that cannot be resolved')
    compareHeaders(response, next, status)
    // Errors have a single shape, in which a new code may appear at any time.
    const reportResponse: Report = /^[45]/.test(status) ? (where, problem) => where.endsWith('.code') || report(where, problem) : report
    compareContent({
      before: response.content ?? {},
      after: next.content ?? {},
      was,
      is,
      direction: 'response',
      place: `${place} ${status}`,
      report: reportResponse
    })
  }

  function compareHeaders(response: Response, next: Response, status: string) {
    const present = new Map(Object.entries(next.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header]))
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const where = `${place} ${status} header ${name}`
      const [one, other] = [follow<Header>(was, header), follow<Header>(is, present.get(name.toLowerCase()))]
      if (other === undefined) report(where, 'was removed')
      else {
        if (one?.required === true && other.required !== true) report(where, 'is now optional')
        compareSchemas(
          { schema: one?.schema ?? {}, document: was },
          { schema: other.schema ?? {}, document: is },
          'response',
          where,
          report
        )
      }
    }
  }
}

interface Contents extends Pick<Comparison, 'was' | 'is' | 'place' | 'report'> {
  readonly before: Readonly<Record<string, MediaType>>
  readonly after: Readonly<Record<string, MediaType>>
  readonly direction: Direction
}

function compareContent({ before, after, was, is, direction, place, report }: Contents) {
  for (const [type, media] of Object.entries(before)) {
    const next = after[type]
    if (next === undefined) report(`${place} ${type}`, 'is no longer one of the media types')
    else {
      const [one, other] = [media.schema ?? {}, next.schema ?? {}]
      compareSchemas({ schema: one, document: was }, { schema: other, document: is }, direction, `${place} ${type}`, report)
    }
  }
}

function compareAccess({ old, now, was, is, place, report }: Comparison) {
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
function compareBase(was: OpenapiDocument, is: OpenapiDocument, report: Report) {
  const present = basesOf(is)
  for (const path of basesOf(was)) if (!present.includes(path)) report(`servers ${path || '/'}`, 'was removed')
}

function basesOf({ servers = [{ url: '/' }] }: OpenapiDocument) {
  return servers.map(({ url }) => url.replace(/^https?:\/\/[^/]*/, '').replace(/\/$/, ''))
}

// Clients read the body of a webhook, like the body of a response.
function compareWebhooks(was: OpenapiDocument, is: OpenapiDocument, report: Report) {
  for (const [name, item] of Object.entries(was.webhooks ?? {})) {
    const present = new Map(operationsIn(is.webhooks?.[name] ?? {}))
    for (const [method, operation] of operationsIn(item)) {
      const place = `webhook ${name}`
      const next = present.get(method)
      if (next === undefined) {
        report(place, 'is no longer sent')
        continue
      }
      const before = follow<RequestBody>(was, operation.requestBody)?.content ?? {}
      const after = follow<RequestBody>(is, next.requestBody)?.content ?? {}
      compareContent({ before, after, was, is, direction: 'response', place, report })
    }
  }
}
