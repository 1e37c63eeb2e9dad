import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { openDatabase } from '@concordat/postgres/open'
import t, { type Test } from 'tap'
import { onServer, server } from './database.ts'

/** Starts a proxy of the server whose connections can become silent: they stay open, and nothing arrives. */
async function silenceable(t: Test) {
  const { hostname, port } = new URL(server)
  const sockets: Socket[] = []
  let isSilent = false
  const proxy = createServer((near) => {
    const far = connect(Number(port || 5432), hostname)
    sockets.push(near, far)
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      from.on('error', () => {}).on('close', () => to.destroy())
      from.on('data', (bytes) => void (isSilent || to.write(bytes)))
    }
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const url = Object.assign(new URL(server), { host: `127.0.0.1:${(proxy.address() as AddressInfo).port}` }).href
  return { url, setSilent: (silent: boolean) => void (isSilent = silent) }
}

t.test(
  'a server that goes silent is noticed, in a transaction and outside, and a connection that only listens is kept',
  onServer,
  async (t) => {
    const { url, setSilent } = await silenceable(t)
    const errors: unknown[] = []
    const lost: string[] = []
    const database = await openDatabase({ url, onError: (error) => errors.push(error) })
    const stopListening = await database.postgres.listen('trees', { onMessage: () => {}, onLost: () => lost.push('trees') })
    const { session } = await database.postgres.open({})
    await database.query('SELECT 1')
    setSilent(true)
    const { message } = await session.query('SELECT 1', []).then(
      () => ({ message: 'responded' }),
      (error: Error) => error
    )
    t.equal(message, 'postgres: the server has sent nothing for 15 s.')
    await t.rejects(database.query('SELECT 1'), { code: 'SERVICE_UNAVAILABLE' })
    await session.rollback()
    setSilent(false)
    t.strictSame(await database.query('SELECT 1 AS n'), [{ n: 1 }])
    t.match(errors, [{ message }])
    t.strictSame(lost, [])
    await stopListening()
    await database.close()
  }
)
