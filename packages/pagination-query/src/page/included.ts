import { parseExactly, stringifyExactly } from '@concordat/plugin-kit/json-schema'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isJson } from '../declaration/list-response.ts'
import type { Included, IncludedRows } from '../list/related.ts'
import type { SqlClient } from '../sql/client.ts'
import { loadIncluded } from '../sql/included.ts'

// The key of the request property with what the client includes. Only requests with `include` have it.
const inclusion: unique symbol = Symbol('concordat.inclusion')

interface Inclusion {
  readonly include: readonly Included[]
  readonly id: string
  /** The relations of each row of the response; undefined until they were read. */
  rows: readonly IncludedRows[] | undefined
}

type IncludingRequest = FastifyRequest & { [inclusion]?: Inclusion }

/** Notes what a request includes. */
export function noteIncluded(request: FastifyRequest, include: readonly Included[], id: string): void {
  ;(request as IncludingRequest)[inclusion] = { include, id, rows: undefined }
}

/** Reads what a request includes for a resource, and returns the resource. */
export async function readIncluded<Row extends object>(request: FastifyRequest, client: SqlClient, row: Row): Promise<Row> {
  const included = (request as IncludingRequest)[inclusion]
  if (included !== undefined) included.rows = await loadIncluded(client, included.include, [row], included.id)
  return row
}

/** Stores the relations of the rows of a page. */
export function storeIncluded(request: FastifyRequest, rows: readonly IncludedRows[] | undefined): void {
  const included = (request as IncludingRequest)[inclusion]
  if (included !== undefined) included.rows = rows
}

/** Returns the relations of a response as text, empty before they were read, or undefined for a request that includes none. */
export function includedText(request: FastifyRequest): string | undefined {
  const included = (request as IncludingRequest)[inclusion]
  return included && stringifyExactly(included.rows ?? '')
}

/**
 * Returns the text of a response with the relations of its rows, and with other changes of `change`; undefined if nothing changes. Throws a `TypeError`
 * if the handler did not read the relations.
 */
export function changedText(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  isEnveloped: boolean,
  change: ((row: object) => object) | undefined
): string | undefined {
  const included = (request as IncludingRequest)[inclusion]
  const isResource = typeof payload === 'string' && reply.statusCode === 200 && isJson(String(reply.getHeader('content-type')))
  if (!isResource || (included === undefined && change === undefined)) return undefined
  const { rows } = included ?? { rows: [] }
  if (rows === undefined)
    throw new TypeError(
      `pagination-query: ${request.method} ${request.routeOptions.url} responded without what include asks for. Return request.withIncluded(client, row), or the page of runSql.`
    )
  // A number of JavaScript has fewer digits than an integer of 64 bits. Most resources have no such number.
  const body = (/\d{16}/.test(payload) ? parseExactly(payload) : JSON.parse(payload)) as Record<string, unknown>
  const data = isEnveloped ? body['data'] : body
  const whole = (row: object, index: number) => ({ ...(change === undefined ? row : change(row)), ...rows[index] })
  const changed = Array.isArray(data) ? data.map(whole) : whole(data as object, 0)
  return stringifyExactly(isEnveloped ? { ...body, data: changed } : changed)
}
