import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { findProgram, findService, type Kind, postgres, redis } from '../services.ts'

/** A kind whose world is given: which addresses answer, and whether its program is installed. */
const kindWith = ({ answering = '', installed = false }): Kind & { installed: boolean } => ({
  name: 'Test',
  variable: 'TEST_URL',
  usual: ['test://first', 'test://second'],
  debianPackage: 'test-server',
  installed,
  answers: async (url) => url === answering,
  async start() {
    return this.installed ? { url: 'test://own', how: 'started for this run', stop: async () => {} } : undefined
  }
})
const never = () => false

t.test('the address that the caller gives is used as it is', async (t) => {
  t.match(await findService(kindWith({ answering: 'test://first' }), { TEST_URL: 'test://given' }, never), {
    url: 'test://given',
    how: 'given by TEST_URL'
  })
})

t.test('what already runs at a usual address comes next', async (t) => {
  t.match(await findService(kindWith({ answering: 'test://second', installed: true }), {}, never), { url: 'test://second' })
})

t.test('an installed program is started, and one that is missing is installed first', async (t) => {
  t.match(await findService(kindWith({ installed: true }), {}, never), { url: 'test://own' })
  const kind = kindWith({})
  const found = await findService(kind, {}, (name) => {
    t.equal(name, 'test-server')
    kind.installed = true
    return true
  })
  t.match(found, { url: 'test://own' })
})

t.test('where nothing helps there is no service', async (t) => {
  t.equal(await findService(kindWith({}), {}, never), undefined)
})

t.test('a program is the one that the caller names, else the one that is installed, else it is installed first', (t) => {
  const program = { name: 'node', variable: 'TEST_PROGRAM', debianPackage: 'test-program' }
  t.equal(findProgram(program, { TEST_PROGRAM: '/opt/node' }, never), '/opt/node')
  t.match(findProgram(program, {}, never), /\/node$/)
  const asked: string[] = []
  const missing = { ...program, name: 'no-such-program' }
  t.equal(
    findProgram(missing, {}, (name) => asked.push(name) > 0),
    undefined
  )
  t.strictSame(asked, ['test-program'])
  t.equal(findProgram(missing, {}, never), undefined)
  t.end()
})

for (const kind of [postgres, redis]) {
  t.test(`${kind.name} starts with empty data on a free port, answers, and leaves nothing behind`, async (t) => {
    // A folder that the account of the database can reach, which a folder under the repository need not be.
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
    t.equal(service !== undefined && (await kind.answers(service.url)), service !== undefined, 'it answers where it is installed')
    await service?.stop()
    t.equal(service !== undefined && (await kind.answers(service.url)), false, 'and no longer after its end')
    t.strictSame(readdirSync(folder), [])
  })
}
