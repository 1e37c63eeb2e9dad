import { statementsOn } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import t, { type Test } from 'tap'
import { kinds, thingsOn } from './unit-of-work.ts'

interface Tree {
  readonly id: string
  readonly commonName: string
  readonly note?: string
}
const trees: Parameters<typeof table<Tree>>[0] = {
  name: 'old-trees',
  fields: new Set(['id', 'commonName', 'note'])
}
type Preconditions = NonNullable<Parameters<ReturnType<typeof table<Tree>>['update']>[3]>

function expecting(versions: readonly string[] | '*' | null, createOnly = false): Preconditions {
  return { createOnly, versions: () => versions, failed: (version) => new Error(`now ${version}`) }
}

const none = expecting(null)
const missing = { statusCode: 404, code: 'RESOURCE_NOT_FOUND' }

async function forest(t: Test, kind: (typeof kinds)[number]) {
  const { database, table: things } = await thingsOn(t, kind)
  const schema = things.replace(/\.things$/, '')
  await database.client.query(`CREATE TABLE ${schema}.old_trees (id text PRIMARY KEY, common_name text UNIQUE, note text, forest text DEFAULT 'north',
    version integer NOT NULL DEFAULT 1)`)
  await database.client.query(
    `CREATE FUNCTION ${schema}.next() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.version := OLD.version + 1; RETURN NEW; END'`
  )
  await database.client.query(`CREATE TRIGGER next BEFORE UPDATE ON ${schema}.old_trees FOR EACH ROW EXECUTE FUNCTION ${schema}.next()`)
  // The collection has the name of a table without its schema.
  const query = (sql: string, values?: readonly unknown[]) =>
    database.client.query(sql.replaceAll('"old_trees"', `${schema}.old_trees`), values)
  return statementsOn({ query } as typeof database.client)
}

for (const kind of kinds) {
  t.test(`finds, inserts, changes and deletes the rows of a table, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees, { columns: { forest: 'forest' } })
    t.strictSame(await old.insert(rows, { id: 'a', commonName: 'oak', note: undefined }), { id: 'a', commonName: 'oak', version: 1 })
    t.strictSame(await old.update(rows, { id: 'a' }, { note: 'tall' }), { id: 'a', commonName: 'oak', note: 'tall', version: 2 })
    t.strictSame(await old.find(rows, { id: 'a', forest: 'north' }), { id: 'a', commonName: 'oak', note: 'tall', version: 2 })
    t.equal(await old.find(rows, { id: 'a', forest: 'south' }), undefined)
    t.strictSame(await old.update(rows, { id: 'a' }, { note: null }), { id: 'a', commonName: 'oak', version: 3 })
    t.strictSame(await old.update(rows, { id: 'a' }, {}), { id: 'a', commonName: 'oak', version: 3 }, 'nothing is written without changes')
    t.strictSame(await old.delete(rows, { id: 'a' }), { id: 'a', commonName: 'oak', version: 3 })
    for (const work of [
      () => old.update(rows, { id: 'a' }, { note: 'x' }),
      () => old.update(rows, { id: 'a' }, {}),
      () => old.delete(rows, { id: 'a' }),
      () => old.lock(rows, { id: 'a' })
    ])
      await t.rejects(work, missing)
  })

  t.test(`reads columns through SQL and writes to the columns that it reads, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    await rows.query('ALTER TABLE "old_trees" ADD planted date, ADD height bigint, ADD "Rings" bigint[]')
    type Measured = Tree & { planted?: string; height: string; rings: string[] }
    const old = table<Measured>(
      {
        name: 'old-trees',
        fields: new Set(['id', 'commonName', 'note', 'planted', 'height', 'rings']),
        numberTexts: new Map([
          ['height', 'text'],
          ['rings', 'text[]']
        ] as const)
      },
      {
        columns: {
          planted: { sql: "to_char(planted, 'YYYY-MM-DD')", column: 'planted' },
          note: { sql: 'upper(note)' },
          rings: { sql: '"Rings"', column: 'Rings' }
        }
      }
    )
    const tree = { planted: '1990-01-01', height: '9007199254740993', rings: ['9007199254740993'] }
    t.match(await old.insert(rows, { id: 'a', ...tree }), tree)
    t.match(await old.update(rows, { id: 'a' }, { planted: '1990-01-02' }), { ...tree, planted: '1990-01-02' })
    t.match(await old.put(rows, { id: 'a' }, { ...tree, height: '7' }, none), { row: { ...tree, height: '7' }, isCreated: false })
    t.match(await old.find(rows, { id: 'a', planted: '1990-01-01' }), { height: '7' })
    t.match(await old.update(rows, { planted: '1990-01-01' }, { planted: null }), { height: '7' })
    t.match(await old.find(rows, { planted: null, height: '7' }), { id: 'a' })
    await rows.query(`UPDATE "old_trees" SET note = 'tall'`)
    t.match(await old.find(rows, { note: 'TALL' }), { note: 'TALL' }, 'SQL without a column can be searched for')
    for (const write of [() => old.insert(rows, { id: 'x', note: 'y' }), () => old.update(rows, { id: 'a' }, { note: 'y' })])
      await t.rejects(write(), {
        name: 'TypeError',
        message:
          'postgres: table "old-trees": the field "note" is the SQL (upper(note)), which cannot be written. Remove it from the values, or set options.columns.note.column to the column that it reads.'
      })
  })

  t.test(`finds, changes and deletes by columns that are null, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees, { columns: { forest: 'forest' } })
    await old.insert(rows, { id: 'a', commonName: 'oak' })
    await old.insert(rows, { id: 'b', commonName: 'ash', note: 'tall' })
    t.match(await old.find(rows, { id: 'a', note: null }), { id: 'a' })
    t.equal(await old.find(rows, { id: 'b', note: null }), undefined)
    t.match(await old.update(rows, { note: null, forest: 'north' }, { commonName: 'elm' }, expecting(['1'])), {
      id: 'a',
      commonName: 'elm'
    })
    t.match(await old.lock(rows, { note: null }), { id: 'a' })
    t.match(await old.delete(rows, { id: 'a', note: null }), { id: 'a' })
    await t.rejects(old.delete(rows, { note: null }), missing)
  })

  t.test(`writes only to a version that the client expects, on ${kind} [O1]`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees)
    await old.insert(rows, { id: 'a', commonName: 'oak' })
    const [first, other] = [expecting(['1', '7']), expecting(['2'])]
    const refused: readonly (() => Promise<unknown>)[] = [
      () => old.update(rows, { id: 'a' }, { note: 'x' }, other),
      () => old.update(rows, { id: 'a' }, {}, other),
      () => old.put(rows, { id: 'a' }, { commonName: 'ash' }, other),
      () => old.delete(rows, { id: 'a' }, other),
      () => old.lock(rows, { id: 'a' }, other)
    ]
    for (const work of refused) await t.rejects(work, { message: 'now 1' })
    t.match(await old.lock(rows, { id: 'a' }, first), { version: 1 })
    t.match(await old.lock(rows, { id: 'a' }, expecting('*')), { version: 1 })
    t.match(await old.update(rows, { id: 'a' }, { note: 'x' }, first), { version: 2 })
    await t.rejects(old.update(rows, { id: 'b' }, { note: 'x' }, first), missing)
    t.match(await old.delete(rows, { id: 'a' }, other), { note: 'x' })
  })

  t.test(`puts a row in the place of another, or creates it, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees)
    const oak = { id: 'a', commonName: 'oak' }
    t.strictSame(await old.put(rows, { id: 'a' }, oak, none), { row: { ...oak, version: 1 }, isCreated: true })
    t.strictSame(await old.put(rows, { id: 'a' }, { commonName: 'ash', note: null }, none), {
      row: { id: 'a', commonName: 'ash', version: 2 },
      isCreated: false
    })
    t.match(await old.put(rows, { id: 'a' }, { note: 'x' }, expecting(['2'])), { row: { version: 3 }, isCreated: false })
    await t.rejects(old.put(rows, { id: 'a' }, oak, expecting(null, true)), { message: 'now 3' })
    t.match(await old.put(rows, { id: 'b' }, { commonName: 'elm' }, expecting(null, true)), { row: { id: 'b' }, isCreated: true })
    await t.rejects(old.put(rows, { id: 'c' }, { commonName: 'fir' }, expecting(['1'])), missing)
  })

  t.test(`a row that others reference is not deleted, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees)
    await old.insert(rows, { id: 'a', commonName: 'oak' })
    await rows.query('CREATE TABLE "old_trees"_nests (tree text CONSTRAINT nests_tree_fkey REFERENCES "old_trees")')
    await rows.query(`INSERT INTO "old_trees"_nests VALUES ('a')`)
    await t.rejects(old.delete(rows, { id: 'a' }), { statusCode: 409, code: 'RESOURCE_IN_USE' })
    const own = table(trees, { violations: { nests_tree_fkey: () => new Error('nested') } })
    await t.rejects(own.delete(rows, { id: 'a' }), { message: 'nested' })
    await rows.query('DELETE FROM "old_trees"_nests')
    t.match(await old.delete(rows, { id: 'a' }), { id: 'a' })
  })

  t.test(`deletes rows so that they can be restored, on ${kind} [O1]`, async (t) => {
    const rows = await forest(t, kind)
    await rows.query('ALTER TABLE "old_trees" ADD felled timestamptz')
    const felled = { ...trees, fields: new Set(['id', 'commonName', 'note', 'felledAt']), deleted: { field: 'felledAt', keepDays: 9 } }
    const old = table(felled, { columns: { felledAt: 'felled' } })
    t.strictSame(old.deletion, { collection: 'old-trees', from: '"old_trees"', column: '"felled"', keepDays: 9 })
    await old.insert(rows, { id: 'a', commonName: 'oak' })
    await t.rejects(old.restore(rows, { id: 'a' }), { statusCode: 409, code: 'RESOURCE_NOT_DELETED' })
    await t.rejects(old.delete(rows, { id: 'a' }, expecting(['7'])), { message: 'now 1' })
    t.match(await old.delete(rows, { id: 'a' }, expecting(['1'])), { version: 2, felledAt: Date })
    for (const work of [
      () => old.delete(rows, { id: 'a' }),
      () => old.lock(rows, { id: 'a' }),
      () => old.update(rows, { id: 'a' }, { note: 'x' })
    ])
      await t.rejects(work, missing)
    t.equal(await old.find(rows, { id: 'a' }), undefined)
    t.match(await old.find(rows, { id: 'a' }, { deleted: true }), { version: 2 })
    for (const isCreateOnly of [true, false])
      await t.rejects(old.put(rows, { id: 'a' }, { commonName: 'ash' }, expecting(null, isCreateOnly)), {
        statusCode: 409,
        code: 'RESOURCE_DELETED'
      })
    await t.rejects(old.restore(rows, { id: 'a' }, expecting(['1'])), { message: 'now 2' })
    t.strictSame(await old.restore(rows, { id: 'a' }, expecting(['2'])), { id: 'a', commonName: 'oak', version: 3 })
    await t.rejects(old.restore(rows, { id: 'b' }), missing)
    t.match(await old.put(rows, { id: 'a' }, { note: 'y' }, none), { row: { version: 4 }, isCreated: false })
  })

  t.test(`a table without versions, with an expression as a column and an error for a constraint, on ${kind}`, async (t) => {
    const rows = await forest(t, kind)
    const old = table(trees, {
      hasVersion: false,
      columns: { id: 'id', note: { sql: 'upper(note)' } },
      violations: { old_trees_common_name_key: () => new Error('taken') }
    })
    t.strictSame(await old.insert(rows, { id: 'a', commonName: 'oak' }), { id: 'a', commonName: 'oak' })
    await rows.query('UPDATE "old_trees" SET note = \'tall\'')
    t.strictSame(await old.find(rows, { id: 'a' }), { id: 'a', commonName: 'oak', note: 'TALL' })
    t.strictSame(await rows.query(`SELECT ${old.columns} FROM "old_trees"`), [{ id: 'a', commonName: 'oak', note: 'TALL' }])
    await t.rejects(old.insert(rows, { id: 'b', commonName: 'oak' }), { message: 'taken' })
  })
}

t.test('refuses a value for a column that the collection does not have, and unknown options', async (t) => {
  const [kind = 'PGlite'] = kinds
  const rows = await forest(t, kind)
  const values = { id: 'a', commonName: 'oak', forest: 'south' }
  await t.rejects(table(trees).insert(rows, values), {
    message: 'postgres: table "old-trees" has no field "forest". Remove it from the values.'
  })
  t.throws(() => table(trees, { violation: {} } as object), TypeError)
})

t.test('refuses a key that would select other rows than its author means', async (t) => {
  const [kind = 'PGlite'] = kinds
  const rows = await forest(t, kind)
  const old = table({ ...trees, id: 'id' })
  await old.insert(rows, { id: 'a', commonName: 'oak' })
  const name = 'postgres: table "old-trees"'
  const keys: readonly [object, string][] = [
    [{}, `${name}: the key is empty, which every row would have. Name the field that identifies a row.`],
    [{ id: 'a', owner: 'b' }, `${name} has no column for "owner" of the key. Remove it, or name its column in options.columns.`],
    [{ toString: 'a' }, `${name} has no column for "toString" of the key. Remove it, or name its column in options.columns.`],
    [{ id: null }, `${name}: the key has null for "id". Pass a value.`],
    [{ id: 'a', note: undefined }, `${name}: the key has undefined for "note". Pass a value, or null for rows without one.`]
  ]
  for (const [given, message] of keys) {
    const key = given as { id: string }
    const calls: readonly (() => Promise<unknown>)[] = [
      () => old.find(rows, key),
      () => old.lock(rows, key),
      () => old.update(rows, key, { note: 'x' }),
      () => old.update(rows, key, {}),
      () => old.delete(rows, key),
      () => old.put(rows, key, { commonName: 'x' }, none)
    ]
    for (const call of calls) await t.rejects(call, { name: 'TypeError', message })
  }
  await t.rejects(old.put(rows, { id: 'b', note: null }, { commonName: 'x' }, none), {
    message: `${name}: the key of put has a null, which equals no other. Pass a value for each of its fields.`
  })
  t.match(await old.find(rows, { id: 'a' }), { commonName: 'oak', version: 1 }, 'nothing was written')
})
