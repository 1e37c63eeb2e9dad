import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { buildApp } from '../src/app.ts'
import type { Configuration } from '../src/configuration.ts'
import { freshDatabase } from './fresh-database.ts'

/** The members of an answer that tests look at; what they say is for the test to prove. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
  readonly bytes: Buffer
}

type Ask = (method: InjectOptions['method'] & string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>

/** The whole service on a database of its own, and a function that sends it a request. */
export async function startService(t: Test, options: Partial<Configuration> = {}): Promise<{ app: FastifyInstance; ask: Ask }> {
  const app = await buildApp({
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'https://shop.example',
    environment: 'test',
    logLevel: 'silent',
    cursorSecrets: ['a secret of the tests, 32 characters'],
    seedOrders: 30,
    ...(await freshDatabase(t)),
    ...options
  })
  t.teardown(() => app.close())

  async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await app.inject({ method: method as 'GET', url: path, headers, ...(body !== undefined && { payload: body }) })
    const isJson = response.body !== '' && String(response.headers['content-type']).startsWith('application/json')
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: isJson ? response.json() : undefined,
      bytes: response.rawPayload
    }
  }
  return { app, ask }
}
