// A process for the tests: node logging-process.ts <how it ends>. It logs three requests into a buffer.
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify from 'fastify'

const [, , ending] = process.argv
const app = Fastify(transportSecurityServerOptions({ bufferedLog: 'info' }))
await app.register(transportSecurity, { dangerouslyAllowHttp: 'loopback' })
app.get('/:number', async () => ({}))
for (const number of [1, 2, 3]) await app.inject(`/${number}`)

if (ending === 'exit') process.exit()
if (ending === 'signal') process.on('SIGTERM', () => process.exit()).kill(process.pid, 'SIGTERM')
if (ending === 'error') throw new Error('not caught')
// The parent kills it when it has seen the lines.
if (ending === 'wait') setInterval(() => {}, 1000)
