// The error handlers that the documentation prints, as it prints them, with a refusal of each plugin that lists invalid fields.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import batch from '@concordat/batch'
import idempotency from '@concordat/idempotency'
import jobs, { defineJob } from '@concordat/jobs'
import paginationQuery, { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import signInRoutes, { memoryLoginAttemptStore, memoryRefreshTokenStore, tokenIssuer } from '@concordat/token-issuing'
import webhooks, { webhookRoutes } from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'

const root = join(import.meta.dirname, '../../..')
const handlers = globSync('{README.md,docs/*.md,packages/*/README.md,examples/*/README.md}', { cwd: root }).flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)]
    .map(([, text = '']) => ({ file, text }))
    // Others map the errors of a service, in a form of their own.
    .filter(({ text }) => text.includes('setErrorHandler') && text.includes('reason: code'))
)

const queue = memoryWorkQueue()
t.teardown(() => queue.close(0))

const Note = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } as const

/** A plugin, and requests that it refuses with 422. */
const refusals: Record<string, { register: (app: FastifyInstance) => Promise<void>; requests: InjectOptions[] }> = {
  'pagination-query': {
    register: async (app) => {
      const notes = collection(Note)({ name: 'notes', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
      await app.register(paginationQuery, { publicUrl: 'https://api.example.com' })
      app.get(
        '/notes',
        { config: { collection: notes }, schema: { response: { 200: { type: 'array', items: Note } } } },
        async (request, reply) => reply.page(runArray([], request.listQuery(notes)))
      )
    },
    requests: [{ url: '/notes?perPage=x&colour=red' }]
  },
  batch: {
    register: async (app) => {
      await app.register(batch)
      app.batch('/batches', { paths: ['/notes'] })
    },
    requests: [{ method: 'POST', url: '/batches', payload: { operations: [{ id: 'a', method: 'GET', path: '/secrets' }] } }]
  },
  jobs: {
    register: async (app) => {
      const input = { type: 'object', required: ['rows'], properties: { rows: { type: 'integer' } } }
      const job = defineJob<{ rows: number }, object>({ name: 'count', input, result: { type: 'object' }, handler: async () => ({}) })
      await app.register(jobs, { publicUrl: 'https://api.example.com', owner: () => 'ada', queue, worker: false })
      app.jobs.serve(job, '/counts')
      app.post('/counts', async ({ body }, reply) => reply.accepted(job, body as { rows: number }))
    },
    requests: [{ method: 'POST', url: '/counts', payload: { rows: 'many' } }]
  },
  webhooks: {
    register: async (app) => {
      const events = { 'note.created': { description: 'A note was written.', schema: { type: 'object' }, example: {} } }
      await app.register(webhooks, { events, mayReceive: 'everyone' })
      await app.register(webhookRoutes, { owner: () => 'ada' })
    },
    requests: [
      { method: 'POST', url: '/webhook-subscriptions', payload: { url: 'http://10.0.0.1', eventTypes: ['note.created'] } },
      { method: 'POST', url: '/webhook-subscriptions', payload: { url: 'https://a.example', eventTypes: ['note.lost'] } }
    ]
  },
  'token-issuing': {
    register: async (app) => {
      const stores = { refreshTokens: memoryRefreshTokenStore(), loginAttempts: memoryLoginAttemptStore() }
      const revocations = { isRevoked: () => false, revoke: async () => {} }
      const users = { findUser: () => undefined, findUserById: () => undefined }
      const refreshKeys = ['Jq3vZ8mB1xT6yW0rLd5uKc9nHs2gPf7a']
      const issuer = tokenIssuer({ ...users, refreshKeys, stores, revocations, sign: async () => 'token' })
      await app.register(signInRoutes, { issuer, verify: () => Promise.reject(new Error('not used')) })
    },
    requests: [{ method: 'POST', url: '/tokens', payload: { username: 'ada@example.com' } }]
  },
  idempotency: {
    register: async (app) => {
      await app.register(idempotency, { scope: () => 'ada' })
      app.post('/payments', { config: { idempotency: 'required' } }, async () => ({}))
    },
    requests: [1, 2].map((amount) => ({ method: 'POST', url: '/payments', headers: { 'idempotency-key': 'k-1' }, payload: { amount } }))
  }
}

/** Runs a block of the documentation and returns the app that it creates. */
async function appOf(t: Test, text: string) {
  const folder = t.testdir({ 'handler.ts': `${text}\nexport { app }\n` })
  const { app } = (await import(join(folder, 'handler.ts'))) as { app: FastifyInstance }
  t.teardown(() => app.close())
  return app
}

t.test('the documentation prints an error handler', async (t) => t.ok(handlers.length > 0))

for (const { file, text } of handlers) {
  for (const [name, { register, requests }] of Object.entries(refusals)) {
    t.test(`the error handler of ${file} sends the invalid fields of a 422 of ${name} [X3]`, async (t) => {
      const app = await appOf(t, text)
      await app.register(async (context) => register(context))
      const responses = []
      for (const request of requests) responses.push(await app.inject(request))
      // The first request with a key is accepted.
      for (const response of name === 'idempotency' ? responses.slice(1) : responses) {
        const body = response.json()
        t.equal(response.statusCode, 422, response.body)
        t.match(body, { ok: false, reason: /^[A-Z_]+$/, detail: /./ })
        t.ok(body.errors.length > 0, response.body)
        for (const entry of body.errors) t.strictSame(Object.keys(entry).toSorted(), ['field', 'message'])
      }
    })
  }
}
