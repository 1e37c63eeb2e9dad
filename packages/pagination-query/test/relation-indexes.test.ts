// In a process of its own: index-subject.ts adds tests to that of the process.
import { collection, many, one } from '@concordat/pagination-query'
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import { Type } from '@sinclair/typebox'
import { findMissingIndexes, onEach } from './index-subject.ts'

const Id = Type.String({ format: 'uuid' })
const listed = { style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } } as const
const Patient = Type.Object({ id: Id, name: Type.String({ maxLength: 80 }), country: Type.String({ maxLength: 2 }) })
const patients = collection(Patient)({ ...listed, name: 'patients' })
const Note = Type.Object({ id: Id, visitId: Id, writtenAt: Type.String({ format: 'date-time' }), grade: Type.Integer() })
const notes = collection(Note)({ ...listed, name: 'notes', sort: { keys: ['id', 'writtenAt'] } })
const patient = one(patients, { key: 'patientId', permission: 'public' })
const Visit = Type.Object({ id: Id, patientId: Id, day: Type.String({ format: 'date' }) })
const visits = collection(Visit)({
  ...listed,
  name: 'visits',
  style: 'cursor',
  defaultSort: ['day'],
  sort: { keys: ['day'] },
  relations: { patient, notes: many(notes, { key: 'visitId', permission: 'public', sort: '-writtenAt', max: 5 }) },
  filter: { 'patient.country': ['eq', 'ne'], 'patient.name': ['prefix'], 'notes.grade': ['gte'] }
})

const source = () => ({ where: { text: 'clinic = $1', values: ['a'] } })

const tables = `CREATE TABLE patients (id uuid NOT NULL, name text COLLATE "C" NOT NULL, country text NOT NULL, clinic text NOT NULL);
  CREATE TABLE visits (id uuid PRIMARY KEY, patient_id uuid NOT NULL, day date NOT NULL);
  CREATE TABLE notes (id uuid PRIMARY KEY, visit_id uuid NOT NULL, written_at timestamptz NOT NULL, grade integer NOT NULL);
  CREATE INDEX ON visits (day, id)`

onEach(
  'finds the indexes of relations and of filters by their fields, and the statements that create them [Q12]',
  async (t, { database, run }) => {
    await run(...tables.split(';\n'))
    const found = await findMissingIndexes(database, visits)
    t.strictSame(
      found.map(({ kind, names, statement }) => [kind, names, statement?.replace(/ON \w+\./, 'ON ')]),
      [
        ['missing', ['filter.patient.country[eq]', 'filter.patient.name[prefix]'], 'CREATE INDEX CONCURRENTLY ON visits (patient_id);'],
        ['missing', ['relations.patient'], 'CREATE INDEX CONCURRENTLY ON patients (id);'],
        ['missing', ['filter.patient.country[eq]'], 'CREATE INDEX CONCURRENTLY ON patients (country);'],
        ['missing', ['filter.patient.name[prefix]'], 'CREATE INDEX CONCURRENTLY ON patients (name);'],
        ['missing', ['relations.notes'], 'CREATE INDEX CONCURRENTLY ON notes (visit_id, written_at, id);'],
        ['missing', ['filter.notes.grade[gte]'], 'CREATE INDEX CONCURRENTLY ON notes (grade);']
      ]
    )
    const waive = { 'filter.notes.grade': 'few grades', 'relations.patient': 'few patients', 'filter.patient.name[prefix]': 'few patients' }
    t.match(
      (await findMissingIndexes(database, visits, {}, { waive })).map(({ names }) => names),
      [['filter.patient.country[eq]'], ['filter.patient.country[eq]'], ['relations.notes']]
    )
    await run(...found.map(({ statement }) => statement))
    await t.resolves(checkIndexes(database, visits))
  }
)

onEach('an index of a relation begins with the conditions of its source [Q12]', async (t, { database, run }) => {
  await run(...tables.split(';\n'), 'CREATE INDEX ON visits (patient_id)', 'CREATE INDEX ON patients (country)')
  const relations = { patient: one(patients, { key: 'patientId', permission: 'public', source }) }
  const limited = collection(Visit)({ ...listed, name: 'visits', relations, filter: { 'patient.country': ['eq'] } })
  await t.rejects(checkIndexes(database, limited), {
    name: 'TypeError',
    message:
      'pagination-query: the relation patient of "visits" has a source. Set options.relatedSources.patient to what it returns for a client, or to {}.'
  })
  await t.rejects(checkIndexes(database, limited, {}, { relatedSources: { patient: {}, doctor: {} } }), {
    name: 'TypeError',
    message: 'pagination-query: options.relatedSources.doctor is not a relation of "visits". Remove it, or correct the name.'
  })
  const found = await findMissingIndexes(database, limited, {}, { relatedSources: { patient: source() } })
  t.strictSame(
    found.map(({ names, statement }) => [names, statement?.replace(/ON \w+\./, 'ON ')]),
    [
      [['relations.patient'], 'CREATE INDEX CONCURRENTLY ON patients (clinic, id);'],
      [['filter.patient.country[eq]'], 'CREATE INDEX CONCURRENTLY ON patients (clinic, country);']
    ]
  )
})
