import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { concordat, project, workshop } from '@concordat/test-harness/generated-project'
import t from 'tap'

function contentsOf(folder: string) {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'utf8')]))
}

for (const flags of [[], ['--schema', 'zod', '--with', 'auth,webhooks', '--tests', 'tap']])
  t.test(`what was added is removed, except the migration: ${flags.join(' ')}`, async (t) => {
    const folder = await project(workshop(t), 'shop', ...flags)
    t.match(await concordat(folder, 'add', 'resource', 'patients'), { code: 0 })
    t.match(await concordat(folder, 'add', 'version', '2'), { code: 0 })
    const before = contentsOf(folder)
    const args = ['appointments', 'startsAt:date-time', 'patient:ref:patients', 'note:string:optional']
    t.match(await concordat(folder, 'add', 'resource', ...args), { code: 0 })
    t.match(await concordat(folder, 'add', 'version', '3'), { code: 0 })
    const { code, out, err } = await concordat(folder, 'remove', 'resource', 'appointments')
    t.strictSame([code, err], [0, ''])
    t.match(
      out,
      /^\/appointments was removed: src\/appointments\/schemas\.ts, .*\. Left to do:\n- Databases still have the table\. Add a migration with DROP TABLE appointments; or delete src\/migrations\/000\d-appointments\.sql if no database has it yet\.\n$/
    )
    const after = contentsOf(folder)
    const rest = Object.keys(after).filter((path) => after[path] !== before[path])
    t.strictSame(rest.map((path) => path.slice(folder.length + 1).replace(/\d{4}/, '')).toSorted(), [
      'src/app.ts',
      'src/main.ts',
      'src/migrations/-appointments.sql',
      'src/versions.ts',
      'test/version-3.test.ts'
    ])
    t.notMatch(after[join(folder, 'src/app.ts')], /appointment/)
    t.notOk(readdirSync(join(folder, 'src')).includes('appointments'))
    t.match(await concordat(folder, 'remove', 'resource', 'appointments'), {
      code: 2,
      err: /^No resource "appointments" that concordat added is here\./
    })
  })

t.test('adding and removing a resource leaves a list with comments and each other file as it was', async (t) => {
  const folder = await project(workshop(t), 'shop', '--with', 'auth')
  const access = join(folder, 'src/access.ts')
  writeFileSync(access, readFileSync(access, 'utf8').replace("'books:write',", "'books:write', // of editors\n  // of all\n"))
  const before = contentsOf(folder)
  t.match(await concordat(folder, 'add', 'resource', 'reviews', 'text:text'), { code: 0 })
  t.match(readFileSync(access, 'utf8'), "permissions = [\n  'reviews:write',")
  t.match(await concordat(folder, 'remove', 'resource', 'reviews'), { code: 0 })
  rmSync(join(folder, 'src/migrations/0004-reviews.sql'))
  t.strictSame(contentsOf(folder), before)
})

t.test('files that were changed, and files that others use, are refused without --force', async (t) => {
  const folder = await project(workshop(t), 'shop')
  for (const args of [['patients'], ['appointments', 'patient:ref:patients']])
    t.match(await concordat(folder, 'add', 'resource', ...args), { code: 0 })
  t.match(await concordat(folder, 'remove', 'resource', 'patients'), {
    code: 2,
    out: '',
    err: 'test/appointments.ts uses patients. Change that first, or add --force and change it then.\n'
  })
  writeFileSync(join(folder, 'src/appointments/routes.ts'), `${readFileSync(join(folder, 'src/appointments/routes.ts'), 'utf8')}// mine\n`)
  writeFileSync(
    join(folder, 'src/appointments/own.ts'),
    "import { Appointment } from './schemas.ts'\n\nexport const example: Appointment | undefined = undefined\n"
  )
  writeFileSync(join(folder, 'src/app.ts'), `${readFileSync(join(folder, 'src/app.ts'), 'utf8')}// Has appointments.\n`)
  const before = contentsOf(folder)
  t.match(await concordat(folder, 'remove', 'resource', 'appointments'), {
    code: 2,
    out: '',
    err: 'src/appointments/routes.ts differs from what this command adds. Add --force to delete it nevertheless.\n'
  })
  t.strictSame(contentsOf(folder), before)
  rmSync(join(folder, 'test/appointments.test.ts'))
  const { code, out } = await concordat(folder, 'remove', 'resource', 'appointments', '--force')
  t.equal(code, 0)
  t.match(out, '- src/app.ts still names appointments.\n- src/appointments/own.ts is yours, and was not deleted.\n')
  t.strictSame(readdirSync(join(folder, 'src/appointments')), ['own.ts'])
  rmSync(join(folder, 'src/appointments'), { recursive: true })
  t.match(await concordat(folder, 'remove', 'resource', 'patients'), { code: 0 })
  t.match(await concordat(folder, 'remove', 'resource', 'books'), { code: 2, err: /^No resource "books" that concordat added is here\./ })
})
