import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  concordat,
  formatFaults,
  project,
  serverForProjects,
  staticFaults,
  testFaults,
  workshop
} from '@concordat/test-harness/generated-project'
import t from 'tap'

// Every type, with names that are as long as they can be: lines that are too long are written as the formatter does.
const everyType = [
  'title:string',
  'text:text:optional',
  'order:integer',
  'size:bigint',
  'amount:decimal:optional',
  'day:date:optional',
  'startsAt:date-time',
  'isDone:boolean',
  'origin:uuid',
  `status:enum:open,paid,${Array.from({ length: 8 }, (_, index) => `another-value-${index}`).join(',')}`,
  'type:enum:a,b:optional',
  'thePatientWhoComesFirst:ref:patients',
  'book:ref:books:optional',
  'code:string:unique'
]

// A handler knows the types of what its schemas accept, whichever library they are written with.
const typedRoute = `import type { Resource } from './fields.ts'
import { NewBook } from './books/schemas.ts'

export const typed: Resource = async (app) => {
  app.post('/typed', { schema: { body: NewBook } }, async ({ body }) => {
    const year: number = body.year
    // @ts-expect-error: a number
    const title: number = body.title
    return [year, title]
  })
}
`

t.test('the fields of a resource have columns, indexes, filters, types and tests, with each library for schemas', async (t) => {
  const place = workshop(t)
  const names = ['clinic', 'hospital', 'practice']
  for (const [name, ...flags] of [
    ['clinic', '--with', 'auth'],
    ['hospital', '--schema', 'zod', '--tests', 'tap'],
    ['practice', '--schema', 'typebox-1']
  ] as const) {
    const folder = await project(place, name, ...flags)
    writeFileSync(join(folder, 'src/typed.ts'), typedRoute)
    for (const args of [
      ['patients', 'name:string:unique', 'bornOn:date'],
      ['appointments', 'startsAt:date-time', 'patient:ref:patients', 'note:string:optional'],
      ['every-kind-of-medical-results', ...everyType],
      ['notes', 'content:text'],
      ['measurements', ...Array.from({ length: 8 }, (_, index) => `valueOfTheMeasuredPressure${index}:integer`)]
    ])
      t.match(await concordat(folder, 'add', 'resource', ...args), { code: 0, err: '' })
  }
  const migration = readFileSync(join(place, 'hospital/src/migrations/0004-appointments.sql'), 'utf8')
  t.match(migration, /^-- npx concordat add resource appointments startsAt:date-time patient:ref:patients note:string:optional\n/)
  t.match(migration, '  patient_id uuid NOT NULL CONSTRAINT appointments_patient_id_fkey REFERENCES patients,\n')
  t.match(migration, 'CREATE INDEX ON appointments (patient_id, created_at, id);')
  t.equal(await formatFaults(place), '')
  t.equal(await staticFaults(place, names), '')
  const server = await serverForProjects(t)
  for (const name of names) t.equal(await testFaults(join(place, name), 'test/every-kind-of-medical-results.test.ts', server), '')
})

t.test('a field that is not valid is refused in one line that lists the types', async (t) => {
  const folder = await project(workshop(t), 'shop')
  const list =
    / with one of these types: string, text, integer, bigint, decimal, date, date-time, boolean, uuid, enum:<a>,<b>, ref:<resource>\.\n$/
  for (const [field, problem] of [
    ['startsAt', 'is not a field'],
    ['startsAt:datetime', 'is not a field'],
    ['startsAt:constructor', 'is not a field'],
    ['starts_at:date', 'is not a field'],
    ['note:string:optional:optional', 'is not a field'],
    ['note:string:required', 'is not a field'],
    [`${'a'.repeat(31)}:string`, 'is not a field'],
    ['sort:string', 'has the name "sort", which has another meaning'],
    ['id:uuid', 'has the name "id", which has another meaning'],
    ['count:integer:unique', 'cannot be unique: only a string can'],
    ['status:enum', 'needs two or more values in lower case, separated by commas'],
    ['status:enum:open', 'needs two or more values in lower case, separated by commas'],
    ["status:enum:a,b'", 'needs two or more values in lower case, separated by commas'],
    ['patient:ref:patient', 'needs the plural name of a resource'],
    ['patient:ref', 'needs the plural name of a resource']
  ] as const) {
    const { code, out, err } = await concordat(folder, 'add', 'resource', 'appointments', field)
    t.strictSame([code, out, err.split('\n').length], [2, '', 2], field)
    t.ok(err.startsWith(`"${field}" ${problem}. Write <name>:<type>, and :optional or :unique after it,`), err)
    t.match(err, list)
  }
  t.match(await concordat(folder, 'add', 'resource', 'appointments', 'a:text', 'a:date'), {
    code: 2,
    err: 'The field "a" is given twice. Remove one of them.\n'
  })
  t.match(await concordat(folder, 'add', 'resource', 'appointments', 'patient:ref:patients'), {
    code: 2,
    err: 'There is no resource "patients" to refer to. Run npx concordat add resource patients first.\n'
  })
})
