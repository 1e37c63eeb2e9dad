// One server of the benchmark, started as a child process: node server.ts <kind>. It tells its parent where it listens, and
// answers each message with the processor time it has used so far.

import conventions, { serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import { item, itemSchema } from './item.ts'

const kinds: Readonly<Record<string, () => Promise<FastifyInstance>>> = {
  async bare() {
    const app = Fastify()
    addRoute(app, '/v1/products/:id')
    return app
  },
  async 'bare-logged'() {
    const app = Fastify({ logger: logger() })
    addRoute(app, '/v1/products/:id')
    return app
  },
  preset: () => preset(false),
  'preset-logged': () => preset(logger()),
  'without-transport-security': () => preset(false, { transportSecurity: false }),
  'without-error-catalogue': () => preset(false, { errorCatalogue: false }),
  'without-versioning': () => preset(false, { versioning: false }),
  'without-http-methods': () => preset(false, { httpMethods: false }),
  'without-content-negotiation': () => preset(false, { contentNegotiation: false }),
  'without-envelope': () => preset(false, { envelope: false }),
  'with-fastify-timeout': () => preset(false, {}, { handlerTimeout: 30_000 })
}

const transportSecurity = { dangerouslyAllowHttp: 'loopback' } as const

// Lines are made and thrown away, so that the disk is not measured.
function logger() {
  return { level: 'info', stream: { write() {} } }
}

async function preset(log: ReturnType<typeof logger> | false, left: Record<string, false> = {}, server: Record<string, unknown> = {}) {
  const app: FastifyInstance = Fastify({ ...serverOptions(), logger: log, ...server })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity,
    ...left
  })
  if (!(left['versioning'] ?? true)) addRoute(app, '/v1/products/:id')
  else await app.apiVersion(1, async (v1) => addRoute(v1, '/products/:id'))
  return app
}

function addRoute(app: FastifyInstance, path: string) {
  app.get(path, { schema: { response: { 200: itemSchema } } }, async () => item)
}

const make = kinds[process.argv[2] as string]
if (make === undefined) throw new Error(`No such server. Choose one of ${Object.keys(kinds).join(', ')}.`)
const app = await make()
const address = await app.listen({ host: '127.0.0.1', port: 0 })
process.on('message', () => process.send?.(process.cpuUsage()))
process.on('disconnect', () => process.exit())
process.send?.(address)
