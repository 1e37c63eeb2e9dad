import { randomBytes } from 'node:crypto'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions, webhookRoutes } from '@concordat/conventions'
import { migrate } from '@concordat/postgres'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import type { DatabasePlace } from '@concordat/testing'
import Fastify, { type FastifyInstance } from 'fastify'

const trust = { issuer: 'https://tokens.example.com', audience: 'books' }
const kit = testKit(trust)
const Book = {
  type: 'object',
  required: ['id', 'title'],
  additionalProperties: false,
  properties: { id: { type: 'string' }, title: { type: 'string', maxLength: 100 } }
} as const
const events = { 'book.created': { description: 'A book was added.', schema: Book, example: { id: '7', title: 'Momo' } } }

/** Prepares the database of the service. */
export async function prepare(database: OpenDatabase): Promise<void> {
  const books = { component: 'books', version: 1, statements: ['CREATE TABLE books (id text PRIMARY KEY, title text NOT NULL)'] }
  await migrate(database.postgres, [...storeMigrations, books])
}

/** Builds a service with books, sign-in and webhooks. `more` adds routes to version 1. */
export async function buildApp(place: DatabasePlace, more: (v1: FastifyInstance) => void = () => {}): Promise<FastifyInstance> {
  const database = await openDatabase({ url: place.databaseUrl, folder: place.dataFolder, prepare })
  const app: FastifyInstance = Fastify({ ...serverOptions(), pluginTimeout: 60_000 })
  app.addHook('onClose', () => database.close())
  const queue = await database.openQueue()
  app.addHook('onClose', () => queue.close(0))
  await app.register(conventions, {
    publicUrl: 'https://books.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    paginationQuery: { cursor: { secrets: [randomBytes(32).toString('base64url')] } },
    stores: { ...postgresStores(database.postgres), queue },
    transactions: postgresTransactions(database.postgres),
    authentication: {
      issuers: [ownTokens({ ...trust, keys: kit.keys })],
      permissions: ['books:create', 'books:read', 'webhooks:create', 'webhooks:read', 'webhooks:update', 'webhooks:delete'],
      roles: { reader: ['books:*', 'webhooks:*'] }
    },
    webhooks: { events, mayReceive: 'everyone', dangerouslyAllowLoopback: 'any-certificate', stopGraceSeconds: 0 }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(webhookRoutes)
    const Token = { type: 'object', required: ['accessToken'], properties: { accessToken: { type: 'string' } } }
    const Credentials = { type: 'object', additionalProperties: false, properties: { username: { type: 'string', maxLength: 100 } } }
    v1.post<{ Body: { username?: string } }>(
      '/tokens',
      { config: { public: true, idempotency: 'off' }, schema: { body: Credentials, response: { 200: Token } } },
      async ({ body: { username } }) => (username === undefined ? {} : { accessToken: kit.token({ sub: username, roles: ['reader'] }) })
    )
    v1.get('/books/:id', { config: { permissions: ['books:read'] }, schema: { response: { 200: Book } } }, async ({ params }) =>
      database
        .query('SELECT * FROM books WHERE id = $1', [(params as { id: string }).id])
        .then(([book]) => book ?? { id: '0', title: 'None' })
    )
    v1.post<{ Body: { id: string; title: string } }>(
      '/books',
      {
        config: { permissions: ['books:create'], idempotency: 'required' },
        schema: { body: Book, response: { 201: Book } }
      },
      async ({ body }, reply) => {
        await database.query('INSERT INTO books VALUES ($1, $2)', [body.id, body.title])
        await app.webhooks.emit('book.created', body)
        return reply.code(201).send(body)
      }
    )
    more(v1)
  })
  return app
}
