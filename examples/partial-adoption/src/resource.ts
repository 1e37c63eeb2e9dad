import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import type { Database, tables } from './database.ts'
import { ServiceError } from './service-error.ts'

interface Configs {
  readonly create?: FastifyContextConfig
  readonly item?: FastifyContextConfig
  readonly others?: FastifyContextConfig
}

type Item = FastifyRequest<{ Params: { id: number } }>
type Creation = FastifyRequest<{ Body: { name: string; amount: number } }>

const params = { type: 'object', properties: { id: { type: 'integer' } } }
const body = { type: 'object', required: ['name', 'amount'], properties: { name: { type: 'string' }, amount: { type: 'integer' } } }

/**
 * Adds the routes of a table, with plain JSON. The config of a package comes and goes with its plugin: as soon as one package is registered, the
 * start refuses config that has no effect.
 */
export function addResource(
  app: FastifyInstance,
  database: Database,
  table: (typeof tables)[number],
  { create, item, others }: Configs = {}
): void {
  app.get(`/${table}/:id`, { config: item ?? {}, schema: { params } }, async (request) =>
    readItem(database, table, (request as Item).params.id)
  )
  app.get(`/${table}/failing`, { config: others ?? {} }, async () => {
    throw new Error('the disk is full')
  })
  app.post(`/${table}`, { config: create ?? {}, schema: { body } }, async (request, reply) => {
    const { name, amount } = (request as Creation).body
    if (amount > 1000) throw new ServiceError(402, 'TOO_EXPENSIVE', 'The amount must not exceed 1000.')
    const { rows } = await database.query(`INSERT INTO ${table} (name, amount) VALUES ($1, $2) RETURNING id, name, amount`, [name, amount])
    return reply
      .code(201)
      .header('location', `${app.prefix}/${table}/${String(rows[0]?.['id'])}`)
      .send(rows[0])
  })
}

/** Adds the list of a table: a plain array. */
export function addList(app: FastifyInstance, database: Database, table: (typeof tables)[number], config: FastifyContextConfig = {}): void {
  app.get(`/${table}`, { config }, async () => readAll(database, table))
}

async function readAll(database: Database, table: string) {
  return (await database.query(`SELECT id, name, amount FROM ${table} ORDER BY id`)).rows
}

async function readItem(database: Database, table: string, id: number) {
  const { rows } = await database.query(`SELECT id, name, amount FROM ${table} WHERE id = $1`, [id])
  if (rows[0] === undefined) throw new ServiceError(404, 'MISSING', 'It does not exist.')
  return rows[0]
}
