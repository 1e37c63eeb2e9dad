import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OwnServer, programPath } from '@concordat/test-harness/own-server'
import { until } from '@concordat/test-harness/until'
import { Redis } from 'ioredis'
import t from 'tap'
import { findProgram, findService, type Kind, mariadb, postgres, redis } from '../services.ts'

/** Returns a kind of service with a given environment: which address responds, and whether its program is installed. */
const kindWith = ({ running = '', installed = false }): Kind & { installed: boolean } => ({
  name: 'Test',
  variable: 'TEST_URL',
  usual: ['test://first', 'test://second'],
  debianPackage: 'test-server',
  installed,
  responds: async (url) => url === running,
  async start() {
    return this.installed ? { url: 'test://own', restart: async () => {}, pause() {}, resume() {}, stop: async () => {} } : undefined
  }
})
const never = () => false

t.test('the address that the caller sets is used without changes', async (t) => {
  t.match(await findService(kindWith({ running: 'test://first' }), { TEST_URL: 'test://given' }, never), {
    url: 'test://given',
    how: 'given by TEST_URL'
  })
})

t.test('a service that already runs at a usual address is used next', async (t) => {
  t.match(await findService(kindWith({ running: 'test://second', installed: true }), {}, never), { url: 'test://second' })
})

t.test('an installed program is started, and a missing program is installed first', async (t) => {
  t.match(await findService(kindWith({ installed: true }), {}, never), { url: 'test://own' })
  const kind = kindWith({})
  const found = await findService(kind, {}, (name) => {
    t.equal(name, 'test-server')
    kind.installed = true
    return true
  })
  t.match(found, { url: 'test://own' })
})

t.test('returns undefined when no service is available', async (t) => {
  t.equal(await findService(kindWith({}), {}, never), undefined)
})

t.test('a program is the one that the caller sets, else the installed one, else it is installed first', (t) => {
  const program = { name: 'node', variable: 'TEST_PROGRAM', debianPackage: 'test-program' }
  t.equal(findProgram(program, { TEST_PROGRAM: '/opt/node' }, never), '/opt/node')
  t.match(findProgram(program, {}, never), /\/node$/)
  const requested: string[] = []
  const missing = { ...program, name: 'no-such-program' }
  t.equal(
    findProgram(missing, {}, (name) => requested.push(name) > 0),
    undefined
  )
  t.strictSame(requested, ['test-program'])
  t.equal(findProgram(missing, {}, never), undefined)
  t.end()
})

for (const kind of [postgres, redis, mariadb]) {
  t.test(`${kind.name} starts with empty data on a free port, responds, and leaves no files behind`, async (t) => {
    // A folder that the account of the database can access. A folder in the repository may not be accessible.
    const folder = mkdtempSync(join(tmpdir(), 'services-'))
    chmodSync(folder, 0o755)
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = folder
    t.teardown(() => {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      rmSync(folder, { recursive: true })
    })
    const service = await kind.start()
    t.equal(service !== undefined && (await kind.responds(service.url)), service !== undefined, 'it responds if it is installed')
    await service?.stop()
    t.equal(service !== undefined && (await kind.responds(service.url)), false, 'it does not respond after it has stopped')
    t.strictSame(readdirSync(folder), [])
  })
}

const noRedis = { skip: programPath('redis-server') === undefined && 'install redis-server' }

t.test('a server that has ended, as after Ctrl+C, can be stopped', noRedis, async (t) => {
  const service = (await redis.start()) as OwnServer
  const client = new Redis(service.url, { retryStrategy: () => null }).on('error', () => {})
  const [, pid] = /process_id:(\d+)/.exec(await client.info('server')) ?? []
  await client.shutdown('NOSAVE').catch(() => {})
  await until(() => !existsSync(`/proc/${pid}`), 50)
  await service.stop()
  t.notOk(await redis.responds(service.url))
})
