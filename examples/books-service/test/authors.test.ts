// [node] import { deepEqual, equal, match } from 'node:assert/strict'
// [node] import { test } from 'node:test'
import { test } from 'tap' // [tap]
import { authorCollection } from '../src/authors/schemas.ts'
// [not auth] import { requireIndexes, startService } from './service.ts'
import { requireIndexes, startService, startServiceForAnyone } from './service.ts' // [auth]

test('authors are created, read, changed and deleted', async (t) => {
  const client = await startService(t)
  const created = await client.post('/v1/authors', { name: 'Michael Ende' })
  t.equal(created.status, 201)
  const path = `/v1/authors/${created.body.data.id}`
  t.match(String(created.headers['location']), new RegExp(`${path}$`))

  const read = await client.get(path)
  t.strictSame(read.body.data, created.body.data)
  const changed = await client.patch(path, { name: 'M. Ende' }, { 'if-match': String(read.headers['etag']) })
  t.equal(changed.body.data.name, 'M. Ende')
  t.equal((await client.delete(path)).status, 204)
  t.equal((await client.get(path)).status, 404)
})

test('of two clients that change the same author, the second gets an error', async (t) => {
  const client = await startService(t)
  const { body, headers } = await client.post('/v1/authors', { name: 'Michael Ende' })
  const path = `/v1/authors/${body.data.id}`
  const sameVersion = { 'if-match': String(headers['etag']) }
  t.equal((await client.patch(path, { name: 'M. Ende' }, sameVersion)).status, 200)
  t.equal((await client.patch(path, { name: 'Ende' }, sameVersion)).status, 412)
  t.equal((await client.patch(path, { name: 'Ende' })).status, 428)
})

test('a name is used once', async (t) => {
  const client = await startService(t)
  await client.post('/v1/authors', { name: 'Michael Ende' })
  const second = await client.post('/v1/authors', { name: 'Michael Ende' })
  t.equal(second.status, 409)
  t.equal(second.body.error.code, 'AUTHOR_EXISTS')
})

test('authors are listed by name, in pages', async (t) => {
  const client = await startService(t)
  for (const name of ['C', 'A', 'B']) await client.post('/v1/authors', { name })
  const { body } = await client.get('/v1/authors?perPage=2')
  t.strictSame(
    body.data.map(({ name }: { name: string }) => name),
    ['A', 'B']
  )
  t.equal((await client.get('/v1/authors?name[prefix]=C')).body.data.length, 1)
})

test('every sort and filter of authors has an index', async (t) => {
  await requireIndexes(t, authorCollection)
})

// [auth] begin
test('without a token, authors can be read but not changed', async (t) => {
  const anyone = await startServiceForAnyone(t)
  t.equal((await anyone.get('/v1/authors')).status, 200)
  t.equal((await anyone.post('/v1/authors', { name: 'Michael Ende' })).status, 401)
})
// [auth] end
