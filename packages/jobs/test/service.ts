import jobs, { defineJob, type Job, type JobContext, type JobsOptions } from '@concordat/jobs'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'

export interface Input {
  readonly rows: number
}

export interface Sum {
  readonly sum: number
}

export type Handle = (input: Input, context: JobContext) => Promise<Sum>

const number = { type: 'number' }
const inputSchema = { type: 'object', required: ['rows'], additionalProperties: false, properties: { rows: number } }
const sumSchema = { type: 'object', required: ['sum'], additionalProperties: false, properties: { sum: number } }

/** Defines a job that runs the handler of the test. */
export function countJob(handler: Handle, more: Partial<Parameters<typeof defineJob<Input, Sum>>[0]> = {}): Job<Input, Sum> {
  return defineJob<Input, Sum>({ name: 'count', input: inputSchema, result: sumSchema, retrySeconds: () => 0, handler, ...more })
}

/** Starts a service with one job at `/v1/counts`. The `client` header identifies the client. */
export async function serviceOf(
  t: Test,
  job: Job<Input, Sum>,
  options: Partial<JobsOptions> = {},
  serving: Parameters<FastifyInstance['jobs']['serve']>[2] = {},
  published: Partial<Contracts> = {}
): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  publish(app, published)
  const queue = options.queue ?? memoryWorkQueue()
  await app.register(jobs, {
    queue,
    owner: (request) => request.headers['client'] as string | undefined,
    publicUrl: 'https://api.example.com',
    ...options
  })
  await app.register(
    async (v1) => {
      v1.jobs.serve(job, '/counts', serving)
      v1.post<{ Body: Input }>('/counts', async (request, reply) =>
        reply.accepted(job, request.body, { key: request.headers['idempotency-key'] as string | undefined })
      )
      v1.get<{ Params: { id: string } }>('/outputs/:id', async (request) => {
        const pieces: string[] = []
        for await (const piece of app.jobs.output(await app.jobs.find(job, request.params.id, request))) pieces.push(piece)
        return pieces
      })
      v1.get<{ Querystring: { perPage: string; offset: string; descending: string } }>('/counts', async (request) => {
        const { perPage, offset, descending } = request.query
        return app.jobs.list(job, request, {
          perPage: Number(perPage),
          offset: Number(offset),
          order: descending ? [{ descending: true }] : []
        })
      })
    },
    { prefix: '/v1' }
  )
  t.teardown(async () => {
    await app.close()
    await queue.close(0)
  })
  await app.ready()
  return app
}

/** Sends a request as a client, and returns the response. */
export async function send(app: FastifyInstance, method: 'GET' | 'POST' | 'DELETE', url: string, more: Record<string, unknown> = {}) {
  const { body, client = 'ada', ...headers } = more
  const response = await app.inject({
    method,
    url: url.replace('https://api.example.com', ''),
    headers: { ...(client !== null && { client: client as string }), ...(headers as Record<string, string>) },
    ...(body !== undefined && { payload: body as object })
  })
  return { status: response.statusCode, headers: response.headers, json: response.body === '' ? undefined : response.json() }
}

/** Starts a job, and returns the URL of its status. */
export async function begin(app: FastifyInstance, body: Input = { rows: 3 }, more: Record<string, unknown> = {}): Promise<string> {
  const { status, headers } = await send(app, 'POST', '/v1/counts', { body, ...more })
  if (status !== 202) throw new Error(`The start of the job returned ${status}.`)
  return String(headers['location'])
}

/** Waits until a job is in one of the states, and returns its record. */
export async function recordIn(app: FastifyInstance, url: string, ...states: string[]) {
  for (;;) {
    const { json } = await send(app, 'GET', url)
    if (states.includes(json.status)) return json
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
