// A service for serve.test.ts, with the settings of its environment. It writes what it does, one line each.
import { openService, readSettings, serve } from '@concordat/service'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'

if (process.env['TERMINAL']) process.stderr.isTTY = true
const folder = new URL(import.meta.url)
const settings = () =>
  readSettings({ folder, variables: { FAILS: Type.String({ default: '' }), REFERENCE: Type.Boolean({ default: false }) } })

await serve({
  name: 'Test service',
  ...(process.env['TRY'] && { tryPath: process.env['TRY'] }),
  settings,
  build: async ({ logger, variables: { FAILS, REFERENCE } }) => {
    const app = Fastify({ logger: { ...logger, level: 'silent' } })
    return openService(app, async (opened) => {
      opened({ close: () => process.stdout.write('database closed\n') })
      process.stdout.write('database opened\n')
      if (FAILS === 'build') throw new Error('the database\n is too old.')
      if (FAILS === 'routes') throw new Error('2 findings.\n  the first\n  the second')
      if (FAILS === 'ready') app.addHook('onReady', async () => Promise.reject(new Error('a hook fails')))
      if (FAILS === 'close') app.addHook('onClose', async () => Promise.reject(new Error('it cannot be closed')))
      // The timer keeps the process alive.
      if (FAILS === 'never') await new Promise(() => setInterval(() => {}, 1000))
      if (REFERENCE) app.get('/reference', () => 'pages')
      app.get('/', () => 'hello')
      app.get('/pid', () => String(process.pid))
      app.get('/crash', () => {
        setImmediate(() => {
          throw new Error('a bug')
        })
        return 'soon'
      })
    })
  }
})
