// node dated-process.ts <representationChangedAt> <changedAt> <now>: serves a resource, and prints its address. The times are in milliseconds.
import { mock } from 'node:test'
import conditionalCaching from '@concordat/conditional-caching'
import Fastify from 'fastify'

const [representationChangedAt = '', changedAt = '', now = ''] = process.argv.slice(2)
mock.timers.enable({ apis: ['Date'], now: Number(now) })
const app = Fastify()
await app.register(conditionalCaching, { representationChangedAt })
const validator = () => ({ exists: true, lastModified: new Date(Number(changedAt)) })
app.get('/', { config: { validator } }, async () => ({ name: 'tea' }))
process.stdout.write(await app.listen({ host: '127.0.0.1', port: 0 }))
