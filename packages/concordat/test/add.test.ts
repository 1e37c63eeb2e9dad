import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { concordat, project, serverForProjects, staticFaults, testFaults, workshop } from '@concordat/test-harness/generated-project'
import { Client } from 'pg'
import pluralize from 'pluralize'
import t from 'tap'

const place = workshop(t)

t.test('resources and a version are added to a project', async (t) => {
  const folder = await project(place, 'shop')
  t.match(await concordat(folder, 'add', 'resource', 'order-item'), { code: 0, err: '', out: /^\/v1\/order-items was added: / })
  t.match(await concordat(folder, 'add', 'version', '2'), { code: 0, err: '', out: /^Version 2 was added with the routes of version 1/ })
  t.match(await concordat(folder, 'add', 'resource', 'reviews'), { code: 0, err: '', out: /^\/v2\/reviews was added: / })
  t.match(await concordat(folder, 'add', 'version', '3'), { code: 0, err: '' })

  const app = readFileSync(join(folder, 'src/app.ts'), 'utf8')
  t.match(
    app,
    /apiVersion\(1, async \(v1\) => \{\n[\s\S]*?v1\.register\(books, \{ database \}\)\n *await v1\.register\(orderItems, \{ database \}\)\n *\}\)/
  )
  t.match(app, /apiVersion\(2, [\s\S]*await v2\.register\(orderItems, \{ database \}\)\n *await v2\.register\(reviews, /)
  t.match(readFileSync(join(folder, 'src/migrations/0003-order-items.sql'), 'utf8'), 'CREATE TABLE order_items (')
  t.match(readFileSync(join(folder, 'src/main.ts'), 'utf8'), "tryPath: '/v3/books'")
})

t.test('a resource has the schema library and the test runner of its project, and its permission', async (t) => {
  const folder = await project(place, 'magazine', '--schema', 'zod', '--with', 'auth', '--tests', 'tap')
  // As Git on Windows does.
  const app = join(folder, 'src/app.ts')
  writeFileSync(app, readFileSync(app, 'utf8').replaceAll('\n', '\r\n'))
  t.match(await concordat(folder, 'add', 'resource', 'categories'), { code: 0, err: '' })
  t.match(await concordat(folder, 'add', 'version', '2'), { code: 0, err: '' })
  t.match(readFileSync(join(folder, 'src/access.ts'), 'utf8'), /'health:read', 'categories:write'\]/)
  t.match(readFileSync(join(folder, 'src/categories/schemas.ts'), 'utf8'), 'export const Category = z.object(')
  t.match(readFileSync(join(folder, 'src/categories/errors.ts'), 'utf8'), 'CATEGORY_NAME_IN_USE')
  t.match(readFileSync(join(folder, 'test/version-2.test.ts'), 'utf8'), "from 'tap'")
})

t.test(
  'a plural that this PostgreSQL reserves is refused as the name of a table',
  { skip: process.env['TEST_DATABASE_URL'] === undefined && 'set TEST_DATABASE_URL' },
  async (t) => {
    const folder = await project(workshop(t), 'shop')
    const client = new Client({ connectionString: process.env['TEST_DATABASE_URL'] })
    await client.connect()
    const { rows } = await client.query<{ word: string }>("SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T')")
    await client.end()
    const plurals = rows.map(({ word }) => word).filter((word) => pluralize.plural(pluralize.singular(word)) === word)
    t.ok(plurals.includes('references'))
    for (const word of plurals)
      t.match(await concordat(folder, 'add', 'resource', word), { code: 2, err: /Choose another name|noun with a plural/ }, word)
    const words = rows.map(({ word }) => word).filter((word) => /^[a-z]+$/.test(word))
    t.match(await concordat(folder, 'add', 'resource', 'words', ...words.map((word) => `${word}:text`)), { code: 0, err: '' })
    const migration = readFileSync(join(folder, 'src/migrations/0003-words.sql'), 'utf8')
    t.strictSame(
      words.filter((word) => !migration.includes(`\n  "${word}" text NOT NULL`)),
      []
    )
  }
)

t.test('a project passes its checks and its tests, as it was created and with what was added', async (t) => {
  await project(place, 'plain')
  t.equal(await staticFaults(place, ['plain', 'shop', 'magazine']), '')
  const server = await serverForProjects(t)
  // What is created and what is added share a run. PGlite takes more than a second for each test.
  t.equal(await testFaults(join(place, 'shop'), 'test/order-items.test.ts', server), '')
  t.equal(await testFaults(join(place, 'shop'), 'test/version-3.test.ts'), '')
})

/** Returns the names that a project uses: tables, folders of sources, and paths. */
function namesIn(folder: string) {
  const files = readdirSync(join(folder, 'src'), { recursive: true, withFileTypes: true })
  const texts = files.filter((file) => file.isFile()).map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'))
  return [
    ...files.filter((file) => file.isDirectory()).map(({ name }) => name),
    ...texts.flatMap((text) => Array.from(text.matchAll(/\bCREATE (?:TABLE|VIEW) (\w+)/g), ([, table = '']) => table.replaceAll('_', '-'))),
    ...texts.flatMap((text) => Array.from(text.matchAll(/'\/(?:v\d+\/)?([a-z][a-z-]*s)(?=[/'])/g), ([, path = '']) => path)),
    'tokens',
    'token-revocations',
    'webhook-subscriptions'
  ]
}

t.test('no resource has a name that a project with everything uses', async (t) => {
  const folder = await project(workshop(t), 'shop', '--schema', 'zod', '--with', 'auth,jobs,webhooks,batch,audit,redis,metrics')
  const names = [...new Set(namesIn(folder))]
  for (const name of ['users', 'migrations', 'books', 'authors', 'book-reports']) t.ok(names.includes(name), name)
  const filesOf = () => readdirSync(folder, { recursive: true }).toSorted()
  const before = filesOf()
  const outcomes = await Promise.all(names.map((name) => concordat(folder, 'add', 'resource', name)))
  for (const [index, outcome] of outcomes.entries())
    t.match(outcome, { code: 2, out: '', err: /Choose another name[^\n]*\n$/ }, names[index] as string)
  t.strictSame(filesOf(), before)
})

t.test('what cannot be added is refused in one line, and nothing changes', async (t) => {
  const path = t.testdir({})
  const folder = await project(workshop(t), 'shop')
  const app = readFileSync(join(folder, 'src/app.ts'), 'utf8')
  const files = readdirSync(join(folder, 'src')).toSorted()
  const refused = async (args: string[], message: RegExp, where = folder) => {
    const { code, out, err } = await concordat(where, 'add', ...args)
    t.strictSame([code, out], [2, ''], args.join(' '))
    t.match(err, message)
    t.equal(err.split('\n').length, 2)
  }
  await refused(['resource', 'reviews'], /^There is no project here\. Run the command in a folder/, path)
  await refused(['resource', 'Order Items'], /^"Order Items" cannot be the name of a resource\./)
  await refused(['resource', 'news'], /^"news" cannot be the name of a resource\. Use a noun with a plural/)
  await refused(['resource', 'classes'], /^"class" has another meaning in the code\. Choose another name, for example class-entries\.\n$/)
  await refused(
    ['resource', 'references'],
    /^"references" is reserved by SQL, so no table can have this name\. Choose .* reference-entries\.\n$/
  )
  for (const [name, taken] of [
    ['pages', 'pages'],
    ['promises', 'Promise'],
    ['timestamps', 'Timestamp'],
    ['resources', 'Resource']
  ] as const)
    await refused(['resource', name], new RegExp(`^"${taken}" has another meaning in the code\\.`))
  for (const name of ['tokens', 'token-revocations', 'webhook-subscriptions'])
    await refused(['resource', name], new RegExp(`^The path /${name} is in use\\.`))
  for (const creation of [
    'CREATE TABLE members (',
    'CREATE TABLE IF NOT EXISTS "members"(',
    'create view public.members AS',
    'CREATE UNIQUE INDEX members ON'
  ]) {
    writeFileSync(join(folder, 'src/migrations/0009-more.sql'), `-- Members.\n${creation} SELECT 1;`)
    await refused(['resource', 'members'], /^src\/migrations\/0009-more\.sql has "members" already\. Choose another name/)
  }
  rmSync(join(folder, 'src/migrations/0009-more.sql'))
  await refused(['resource', 'settings'], /^src\/app\.ts already has "settings"\. Choose another name/)
  for (const text of ['3', '1', '0x2', '2.0', '02', ' 2', '2e0', 'v2', ''])
    await refused(['version', text], new RegExp(`^The next version is 2, not "${text}"\\. Run npx concordat add version 2\\.`))
  rmSync(join(folder, 'test'), { recursive: true })
  writeFileSync(join(folder, 'test'), '')
  await refused(['resource', 'reviews'], /^Nothing was changed: E\w+: .*Check the rights of the project\.\n$/)
  t.strictSame(readdirSync(join(folder, 'src')).toSorted(), files)
  t.equal(readFileSync(join(folder, 'src/app.ts'), 'utf8'), app)

  rmSync(join(folder, 'test'))
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test/reviews.test.ts'), '')
  await refused(['resource', 'reviews'], /^test\/reviews\.test\.ts already exists\./)
  writeFileSync(join(folder, 'src/app.ts'), app.replaceAll('await v1.register', 'v1.register'))
  await refused(
    ['resource', 'shelves'],
    /^src\/app\.ts has no line await v1\.register\(…, \{ database \}\)\. Write it as npm create concordat did/
  )
  writeFileSync(join(folder, 'src/versions.ts'), '')
  await refused(['version', '1'], /^src\/versions\.ts has no entry 0/)
  writeFileSync(join(folder, 'package.json'), '{')
  await refused(['version', '1'], /^package\.json cannot be read: .*Correct it\.\n$/)
})
