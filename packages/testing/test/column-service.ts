import { randomBytes } from 'node:crypto'
import conventions, { serverOptions } from '@concordat/conventions'
import { defineJob, jobRecordSchema } from '@concordat/jobs'
import { type Collection, collection } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { migrate } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { statementsOn } from '@concordat/postgres/rows'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { table } from '@concordat/postgres/table'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { type ColumnCase, createTypes } from '@concordat/test-harness/column-types'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import * as TypeBox1 from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'

type JsonSchema = Readonly<Record<string, unknown>>
type Members = Readonly<Record<string, JsonSchema>>

/** What a schema library makes of the JSON Schemas of the table of types. */
interface Library {
  readonly object: (members: Members) => object
  readonly list: (members: Members) => object
}

const box = (schema: JsonSchema, { Type: T }: { Type: typeof Type }): ReturnType<typeof Type.Unknown> => {
  const { type, items, enum: values, ...rest } = schema
  if (Array.isArray(values)) return T.Union(values.map((value: string) => T.Literal(value))) as never
  if (type === 'array') return T.Array(box(items as JsonSchema, { Type: T })) as never
  if (type === 'string') return T.String(rest) as never
  if (type === 'integer') return T.Integer(rest) as never
  if (type === 'number') return T.Number(rest) as never
  return (type === 'boolean' ? T.Boolean(rest) : T.Unknown()) as never
}
const boxes = (module: { Type: typeof Type }): Library => {
  const object = (members: Members) =>
    module.Type.Object(Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, box(schema, module)])))
  return { object, list: (members) => module.Type.Array(object(members)) }
}

function zod({ type, format, maxLength, items, enum: values }: JsonSchema): z.ZodType {
  if (Array.isArray(values)) return z.enum(values as [string])
  if (type === 'array') return z.array(zod(items as JsonSchema))
  if (type === 'integer') return z.int()
  if (type === 'number') return z.number()
  if (type === 'boolean') return z.boolean()
  if (type !== 'string') return z.unknown()
  if (format === 'date') return z.iso.date()
  if (format === 'date-time') return z.iso.datetime()
  if (format === 'uuid') return z.guid()
  const text = maxLength === undefined ? z.string() : z.string().max(maxLength as number)
  return format === undefined ? text : text.meta({ format })
}

function valibot({ type, format, maxLength, items, enum: values }: JsonSchema): v.GenericSchema {
  if (Array.isArray(values)) return v.picklist(values as [string])
  if (type === 'array') return v.array(valibot(items as JsonSchema))
  if (type === 'integer') return v.pipe(v.number(), v.integer())
  if (type === 'number') return v.number()
  if (type === 'boolean') return v.boolean()
  if (type !== 'string') return v.unknown()
  if (format === 'date') return v.pipe(v.string(), v.isoDate())
  if (format === 'date-time') return v.pipe(v.string(), v.isoTimestamp())
  if (format === 'uuid') return v.pipe(v.string(), v.uuid())
  if (maxLength !== undefined) return v.pipe(v.string(), v.maxLength(maxLength as number))
  return format === undefined ? v.string() : v.pipe(v.string(), v.metadata({ format }))
}

const mapped = <Value>(members: Members, make: (schema: JsonSchema) => Value) =>
  Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, make(schema)]))

export const libraries: Readonly<Record<string, Library>> = {
  'JSON Schema': {
    object: (properties) => ({ type: 'object', required: Object.keys(properties), properties }),
    list: (properties) => ({ type: 'array', items: { type: 'object', required: Object.keys(properties), properties } })
  },
  'TypeBox 0.34': boxes({ Type }),
  'TypeBox 1': boxes(TypeBox1 as never),
  Zod: { object: (members) => z.object(mapped(members, zod)), list: (members) => z.array(z.object(mapped(members, zod))) },
  Valibot: {
    object: (members) => toStandardJsonSchema(v.object(mapped(members, valibot))),
    list: (members) => toStandardJsonSchema(v.array(v.object(mapped(members, valibot))))
  }
}

export interface Thing {
  readonly id: string
  readonly value: unknown
}

/** A resource with a column of one type. */
export interface Resource extends ColumnCase {
  readonly name: string
  readonly table: string
  readonly things: Collection<Thing>
  readonly walked: Collection<Thing>
  readonly isComparable: boolean
}

const id = { type: 'string', maxLength: 9 }
// Types without an order in PostgreSQL.
const unordered = /^(?:json|xml|point|box|box\[\])$/

function resourceOf({ type, schema, values }: ColumnCase, index: number, library: Library): Resource {
  const isComparable = schema['type'] !== 'array' && !unordered.test(type) && Object.keys(schema).length > 0 && type !== 'bytea'
  const isText = schema['type'] === 'string' && schema['format'] === undefined && schema['enum'] === undefined
  const value = isText ? { ...schema, maxLength: 80 } : schema
  const declare = (name: string, style: 'page' | 'cursor') =>
    collection(library.object({ id, value }) as { type: string })({
      name,
      style,
      id: 'id',
      defaultSort: [isComparable ? 'value' : 'id'],
      sort: { keys: isComparable ? ['value', 'id'] : ['id'] },
      filter: isComparable ? { value: true } : {}
    } as never) as unknown as Collection<Thing>
  const name = `n${index}-things`
  const table = `n${index}_things`
  return {
    type,
    schema: value,
    values,
    name,
    table,
    things: declare(name, 'page'),
    walked: declare(`walked-n${index}-things`, 'cursor'),
    isComparable
  }
}

/** A service with a resource for each type of column, on all stores of a database. */
export interface ColumnService {
  readonly app: FastifyInstance
  readonly database: OpenDatabase
  readonly resources: readonly Resource[]
  /** The lines of the log at the level of errors. */
  readonly errors: string[]
}

export async function serveColumns(
  t: Test,
  place: { readonly url: string } | { readonly folder: string },
  library: Library,
  cases: readonly ColumnCase[]
): Promise<ColumnService> {
  const resources = cases.map((one, index) => resourceOf(one, index, library))
  const database = await openDatabase({
    ...place,
    async prepare(opened) {
      await migrate(opened.postgres, [...storeMigrations, ...auditTrailMigrations])
      for (const sql of createTypes) await opened.query(sql)
      for (const { table, type } of resources)
        await opened.query(`CREATE TABLE ${table} (id text COLLATE "C" PRIMARY KEY, value ${type} NOT NULL)`)
    }
  })
  const queue = await database.openQueue()
  const errors: string[] = []
  const stores = { ...postgresStores(database.postgres), auditTrail: postgresAuditTrailStore(database.postgres), queue }
  const app = Fastify({
    ...serverOptions(),
    logger: { level: 'error', stream: { write: (line: string) => void errors.push(line) } }
  })
  t.teardown(async () => {
    await app.close()
    await queue.close(0)
    await database.close()
  })
  const copy = defineJob<{ table: string }, unknown>({
    name: 'copy',
    input: { type: 'object', required: ['table'], properties: { table: { type: 'string' } } },
    result: {},
    maxAttempts: 1,
    handler: async ({ table }) => (await database.query<Thing>(`SELECT value FROM ${table} ORDER BY id`)).map(({ value }) => value)
  })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    authentication: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    rateLimiting: false,
    stores,
    transactions: postgresTransactions(database.postgres),
    idempotency: { scope: () => 'client' },
    jobs: { owner: () => 'client' },
    webhooks: {
      events: Object.fromEntries(
        resources.map(({ name, schema, values }) => [
          name.replace('-', '.'),
          {
            description: 'A thing was created.',
            schema: { type: 'object', required: ['id', 'value'], properties: { id, value: schema } },
            example: { id: '1', value: values[0]?.[0] }
          }
        ])
      ),
      mayReceive: 'everyone',
      worker: false
    },
    paginationQuery: { cursor: { secrets: [randomBytes(32).toString('base64')] } }
  })
  const now = Date.now()
  await stores.webhooks.addSubscription(
    {
      id: '019b7c2e-7a4f-7d31-b1c5-9a8c0f6f2f11',
      owner: 'client',
      audience: 'client',
      url: 'https://receiver.example.com/',
      eventTypes: resources.map(({ name }) => name.replace('-', '.')),
      version: 1,
      ordered: false,
      signature: 'hmac-sha256',
      status: 'enabled',
      keys: [{ key: `whsec_${randomBytes(32).toString('base64')}` }],
      createdAt: now,
      updatedAt: now,
      revision: 1
    },
    20
  )
  await app.apiVersion(1, async (v1) => {
    v1.jobs.serve(copy, '/copies')
    v1.post<{ Body: { table: string } }>(
      '/copies',
      { config: { idempotency: 'off', job: 'start' }, schema: { body: copy.input, response: { '2xx': jobRecordSchema } } },
      async (request, reply) => reply.accepted(copy, request.body)
    )
    for (const resource of resources) addRoutes(v1, database, resource, library)
  })
  await app.ready()
  return { app, database, resources, errors }
}

function addRoutes(
  v1: FastifyInstance,
  database: OpenDatabase,
  { name, table: tableName, type, schema, things, walked }: Resource,
  library: Library
) {
  const rows = table<Thing>(things, { hasVersion: false })
  const [Thing, Things, Body] = [
    library.object({ id, value: schema }),
    library.list({ id, value: schema }),
    library.object({ value: schema })
  ]
  // A value of JSON is a text of the author, because a list would be an array of PostgreSQL.
  const stored = (value: unknown) => {
    if (!type.startsWith('json')) return value
    return type.endsWith('[]') ? (value as unknown[]).map((item) => JSON.stringify(item)) : JSON.stringify(value)
  }
  v1.post<{ Body: Thing; Querystring: { id: string } }>(
    `/${name}`,
    {
      config: { transaction: true, idempotency: 'accepted' },
      schema: { body: Body, querystring: { type: 'object', required: ['id'], properties: { id } }, response: { 201: Thing } }
    },
    async (request, reply) => {
      const row = await rows.insert(statementsOn(request.transaction), { id: request.query.id, value: stored(request.body.value) })
      await v1.webhooks.emit(name.replace('-', '.'), row, { id: `${tableName}-${row.id}` })
      return reply.created(`/${name}/${row.id}`, row)
    }
  )
  v1.patch<{ Body: Thing; Params: { id: string } }>(
    `/${name}/:id`,
    { config: { transaction: true, idempotency: 'off' }, schema: { body: Body, response: { 200: Thing } } },
    async (request) => rows.update(statementsOn(request.transaction), { id: request.params.id }, { value: stored(request.body.value) })
  )
  v1.get<{ Params: { id: string } }>(`/${name}/:id`, { schema: { response: { 200: Thing } } }, async (request) =>
    rows.find(database, { id: request.params.id })
  )
  for (const [path, listed] of [
    [name, things],
    [`walked-${name}`, walked]
  ] as const)
    v1.get(`/${path}`, { config: { collection: listed }, schema: { response: { 200: Things } } }, async (request, reply) =>
      reply.page(await runSql(database.client, request.listQuery(listed), { table: tableName }))
    )
}
