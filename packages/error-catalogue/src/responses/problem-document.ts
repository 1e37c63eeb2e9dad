import { randomUUID } from 'node:crypto'
import { json, prefersType } from '@concordat/plugin-kit/accept'
import { pointerSteps } from '@concordat/plugin-kit/json-schema'
import { hrefOf, type OriginRequest, originResolver } from '@concordat/plugin-kit/links'
import type { FastifyRequest } from 'fastify'
import type { Settings } from '../options.ts'

/** The media type of problem documents (RFC 9457 §6.1). */
export const problemJson = 'application/problem+json'

/** The error envelope, as it is sent. Members of `error` that are not listed are the same in both forms. */
export interface ErrorEnvelope {
  readonly error: {
    readonly status: number
    readonly error: string
    readonly message: string
    readonly code: string
    readonly errors?: readonly { readonly field: string; readonly message: string }[] | undefined
  }
  readonly _links: readonly object[]
  readonly _meta: { readonly version: string; readonly timestamp: string }
}

/** A problem document (RFC 9457 §3), as it is sent. */
export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly instance: string
  readonly code: string
  readonly errors?: readonly ProblemError[] | undefined
  readonly version: string
  readonly timestamp: string
}

/** An invalid part of the request: a value in a JSON body, a parameter, or what the name of a field says. */
interface ProblemError {
  readonly detail: string
  readonly pointer?: string | undefined
  readonly parameter?: string | undefined
  /** The part of the request that has the parameter. */
  readonly in?: string | undefined
  readonly field?: string | undefined
}

/** Returns a function that returns the address at which the catalogue describes an error code. */
export function problemTypes(settings: Settings): (code: string, origin: OriginRequest | undefined) => string {
  const originOf = originResolver(settings)
  return (code, origin) => hrefOf(originOf(origin), `${settings.problemTypesPath}#${code}`)
}

/** Returns whether the path of a request target is one of `paths` or below one of them. */
export function isBelow(target: string, paths: readonly string[]): boolean {
  if (paths.length === 0) return false
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return paths.some((one) => {
    const base = one.replace(/\/$/, '')
    return path.startsWith(base) && /^(?:$|[/?])/.test(path.slice(base.length))
  })
}

/** Returns whether the error response to a request must be a problem document: it can, and the client prefers one to JSON. */
export function wantsProblem(paths: readonly string[], request: FastifyRequest | undefined): boolean {
  const accept = request?.headers.accept
  // Most clients do not know the media type, and an error must cost them nothing.
  if (accept === undefined || request === undefined || !/problem\+json/i.test(accept)) return false
  return prefersType(accept, problemJson, json) && isBelow(request.url, paths)
}

/** Returns an error as a problem document. `pointers` are those of its fields: JSON pointers in the part of the request that the field names. */
export function problemOf({ error, _meta }: ErrorEnvelope, type: string, pointers: readonly (string | undefined)[]): ProblemDocument {
  const { status, error: title, message: detail, errors, ...others } = error
  return {
    type,
    title,
    status,
    detail,
    instance: `urn:uuid:${randomUUID()}`,
    ...others,
    ...(errors && { errors: errors.map(({ field, message }, index) => ({ detail: message, ...placeOf(field, pointers[index]) })) }),
    ..._meta
  }
}

/** Returns a problem document of this project as the error envelope. */
export function envelopeOf(problem: ProblemDocument, links: readonly object[]): ErrorEnvelope {
  const { type: _type, instance: _instance, status, title, detail, errors, version, timestamp, ...others } = problem
  return {
    error: {
      status,
      error: title,
      message: detail,
      ...others,
      ...(errors && { errors: errors.map((one) => ({ field: fieldOf(one), message: one.detail })) })
    },
    _links: links,
    _meta: { version, timestamp }
  }
}

// The name of a member can have dots, so the path of a value is known only where its pointer is.
function placeOf(field: string, pointer: string | undefined): Omit<ProblemError, 'detail'> {
  const [, part, name = ''] = /^(query|header|path)\.(.+)$/s.exec(field) ?? []
  if (part === undefined) return pointer === undefined ? { field } : { pointer: `#${pointer.split('/').map(encodeURIComponent).join('/')}` }
  const parameter = pointer === undefined ? (name.includes('.') ? undefined : name) : pointerSteps(pointer)[0]
  return parameter === undefined ? { field } : { parameter, in: part }
}

function fieldOf({ pointer, parameter, in: part, field }: ProblemError): string {
  if (pointer !== undefined) return ['body', ...pointerSteps(decodeURIComponent(pointer.slice(1)))].join('.')
  return field ?? `${part}.${parameter}`
}
