import type { Files } from 'create-concordat'
import { codeOf } from './constraints.ts'
import { type Field, filterOf, samplesOf } from './fields.ts'
import type { Project } from './project.ts'
import { listed } from './source-text.ts'
import type { Words } from './words.ts'

/** Returns the tests of a resource, and the values with which they and those of resources that refer to it create one. */
export function testFiles({ chosen }: Project, words: Words, fields: readonly Field[], version: string): Files {
  const path = `/${version}/${words.path}`
  return new Map([
    [`test/${words.path}.ts`, valuesFile(words, fields, path)],
    [`test/${words.path}.test.ts`, testFile(words, fields, path, chosen)]
  ])
}

function hasTargets(fields: readonly Field[]) {
  return fields.some(({ target }) => target !== undefined)
}

function valuesFile({ Singular, plural }: Words, fields: readonly Field[], path: string) {
  const members = fields.map((field) => `    ${field.name}: ${samplesOf(field)[0]}`)
  const head = hasTargets(fields) ? `async function new${Singular}(client: TestClient)` : `function new${Singular}()`
  return `import type { TestClient } from '@concordat/testing'
${importsOfTargets(fields)}
/** Returns the values of a request that creates one of the ${plural}. */
export ${head} {
  return {
${members.join(',\n')}
  }
}

/** Creates one of the ${plural}. Returns its id. */
export async function add${Singular}(client: TestClient): Promise<string> {
  return (await client.post('${path}', ${newOne({ Singular }, fields)})).body.data.id
}
`
}

function importsOfTargets(fields: readonly Field[]) {
  const targets = new Map(fields.flatMap(({ target }) => (target === undefined ? [] : [[target.path, target.Singular]])))
  return [...targets]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, Singular]) => `import { add${Singular} } from './${path}.ts'\n`)
    .join('')
}

function newOne({ Singular }: Pick<Words, 'Singular'>, fields: readonly Field[]) {
  return hasTargets(fields) ? `await new${Singular}(client)` : `new${Singular}()`
}

function testFile(words: Words, fields: readonly Field[], path: string, chosen: ReadonlySet<string>) {
  const { Singular, one, plural } = words
  const [equal, deepEqual] = chosen.has('tap') ? ['t.equal', 't.strictSame'] : ['equal', 'deepEqual']
  const runner = chosen.has('tap')
    ? "import { test } from 'tap'"
    : "import { deepEqual, equal } from 'node:assert/strict'\nimport { test } from 'node:test'"
  const [first] = fields as readonly [Field]
  const isAnonymous = chosen.has('auth')
  const changesTarget = first.target === undefined ? '' : importsOfTargets([first])
  const removed = fields.filter(({ isOptional }) => isOptional)
  const removal = removed.length === 0 ? '' : removalOf(removed, equal)
  return `${runner}
import { ${one}Collection } from '../src/${words.path}/schemas.ts'
${[changesTarget, `import { add${Singular}, new${Singular} } from './${words.path}.ts'\n`].toSorted().join('')}import { requireIndexes, startService${isAnonymous ? ', startServiceForAnyone' : ''} } from './service.ts'

test('${plural} are created, read, changed and deleted', async (t) => {
  const client = await startService(t)
  const values = ${newOne(words, fields)}
  const created = await client.post('${path}', values)
  ${equal}(created.status, 201)
  const { id, createdAt } = created.body.data
  ${deepEqual}(created.body.data, { ...values, id, createdAt })

  const path = \`${path}/\${id}\`
  const version = { 'if-match': String((await client.get(path)).headers['etag']) }
  const changes = { ${first.name}: ${samplesOf(first)[1]} }
  const changed = await client.patch(path, changes, version)
  ${deepEqual}(changed.body.data, { ...created.body.data, ...changes })
  ${equal}((await client.patch(path, changes, version)).status, 412)
  ${equal}((await client.patch(path, changes)).status, 428)
${removal}  ${equal}((await client.delete(path)).status, 204)
  ${equal}((await client.get(path)).status, 404)
})

test('${plural} are sorted, filtered and divided into pages', async (t) => {
  const client = await startService(t)
  for (let count = 0; count < 3; count += 1) await add${Singular}(client)
  const page = await client.get('${path}?perPage=2')
  ${equal}(page.body.data.length, 2)
${listTests(fields, path, equal)}})

test('every sort and filter of ${plural} has an index', async (t) => {
  await requireIndexes(t, ${one}Collection)
})
${violationTests(words, fields, path, equal)}${isAnonymous ? anonymousTest(words, path, equal) : ''}`
}

function removalOf(fields: readonly Field[], equal: string) {
  const call = listed(
    '  const removed = await client.patch(path, ',
    ['{ ', ' }'],
    fields.map(({ name }) => `${name}: null`),
    ", { 'if-match': '*' })"
  )
  return `${call}\n${fields.map(({ name }) => `  ${equal}(removed.body.data.${name}, undefined)\n`).join('')}`
}

function listTests(fields: readonly Field[], path: string, equal: string) {
  const sorted = fields.filter(({ type }) => type.isSorted).map(({ name }) => [`'sort=-${name}'`, 3] as const)
  const filtered = fields.flatMap((field) => filterOf(field).map((operator) => filterTest(field, operator)))
  const lines = [...sorted, ...filtered].map(([query, count]) => `  ${equal}(await count(${query}), ${count})\n`)
  if (lines.length === 0) return ''
  return `  const count = async (query: string) => (await client.get(\`${path}?\${query}\`)).body.data.length\n${lines.join('')}`
}

/** Returns the query of a filter as code, and how many of three items that were created alike it finds. */
function filterTest(field: Field, operator: string): readonly [string, number] {
  const [a, b] = samplesOf(field).map((sample) => sample.replaceAll(/^'|'$/g, '')) as [string, string]
  const { name, target, isUnique } = field
  if (operator === 'prefix') return [`'${name}[prefix]=First'`, 3]
  if (target !== undefined || isUnique) return [`\`${name}=\${encodeURIComponent(page.body.data[0].${name})}\``, 1]
  if (operator === 'eq') return [`'${name}=${b}'`, 0]
  if (operator === 'in') return [`'${name}[in]=${a},${b}'`, 3]
  return operator === 'gte' ? [`'${name}[gte]=${b}'`, 0] : [`'${name}[lte]=${a}'`, 3]
}

function violationTests(words: Words, fields: readonly Field[], path: string, equal: string) {
  return fields
    .flatMap((field) => {
      const { name, text, isUnique, target } = field
      if (!isUnique && target === undefined) return []
      const values = isUnique ? newOne(words, fields) : `{ ...(${newOne(words, fields)}), ${name}: crypto.randomUUID() }`
      const title = isUnique
        ? `a ${text} of ${words.plural} is used once`
        : `an unknown ${text} of ${words.plural} is refused with the field`
      const firstRequest = isUnique ? `  await client.post('${path}', values)\n` : ''
      const place = isUnique ? '' : `  ${equal}(body.error.errors[0].field, 'body.${name}')\n`
      return [
        `
test('${title}', async (t) => {
  const client = await startService(t)
  const values = ${values}
${firstRequest}  const { status, body } = await client.post('${path}', values)
  ${equal}(status, ${isUnique ? 409 : 422})
  ${equal}(body.error.code, '${codeOf(words, field)}')
${place}})
`
      ]
    })
    .join('')
}

function anonymousTest({ plural }: Words, path: string, equal: string) {
  return `
test('without a token, ${plural} can be read but not changed', async (t) => {
  const anyone = await startServiceForAnyone(t)
  ${equal}((await anyone.get('${path}')).status, 200)
  ${equal}((await anyone.post('${path}', {})).status, 401)
})
`
}
