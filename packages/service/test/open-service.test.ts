import { openService } from '@concordat/service'
import Fastify from 'fastify'
import t from 'tap'

/** Resources that write into a list when they are closed. */
function resources() {
  const closed: string[] = []
  return {
    closed,
    named: (name: string) => ({ name, close: async () => void closed.push(name), stop: () => closed.push(`${name} stops`) })
  }
}

t.test('closes what was opened with the app, the last resource first and after the plugins, and each in its own way', async (t) => {
  const { closed, named } = resources()
  const app = Fastify()
  const opened = await openService(app, async (opened) => {
    t.equal(opened(named('database')).name, 'database')
    opened(named('queue'), (queue) => queue.stop())
    await app.register(async (plugin) => plugin.addHook('onClose', async () => void closed.push('plugin')))
  })
  t.equal(opened, app)
  await app.ready()
  t.strictSame(closed, [])
  await app.close()
  t.strictSame(closed, ['plugin', 'queue stops', 'database'])
})

t.test('a start that fails closes what is open, in the same order, and rejects with the first error', async (t) => {
  for (const fails of [
    async (app: ReturnType<typeof Fastify>) => {
      await app.register(async () => {
        throw new Error('a plugin fails')
      })
    },
    async () => {
      throw new Error('a plugin fails')
    }
  ]) {
    const { closed, named } = resources()
    const app = Fastify()
    const start = openService(app, async (opened) => {
      opened(named('database'))
      opened(named('queue'))
      await fails(app)
      opened(named('never opened'))
    })
    await t.rejects(start, { message: 'a plugin fails' })
    t.strictSame(closed, ['queue', 'database'])
  }
})

t.test('a resource that cannot be closed leaves no other open, and is the error of close, but not of a start that fails', async (t) => {
  for (const isStartFailing of [false, true]) {
    const { closed, named } = resources()
    const app = Fastify()
    const start = openService(app, async (opened) => {
      opened(named('database'))
      opened({ close: () => Promise.reject(new Error('the queue is stuck')) })
      if (isStartFailing) throw new Error('the start fails')
    })
    if (isStartFailing) await t.rejects(start, { message: 'the start fails' })
    else await t.rejects((await start).close(), { message: 'the queue is stuck' })
    t.strictSame(closed, ['database'])
  }
})
