// [node] import { deepEqual, equal } from 'node:assert/strict'
// [node] import { test } from 'node:test'

import { webhookReceiver } from '@concordat/testing' // [webhooks]
import { test } from 'tap' // [tap]
import { bookCollection } from '../src/books/schemas.ts'
import { addAuthor } from './authors.ts'
import { addBook } from './books.ts'
import { requireIndexes, startService } from './service.ts'

test('every sort and filter of books has an index', async (t) => {
  await requireIndexes(t, bookCollection)
})

test('a request that is sent again with its key creates one book', async (t) => {
  const client = await startService(t)
  const momo = { title: 'Momo', authorId: await addAuthor(client), year: 1973 }
  const key = { 'idempotency-key': 'first-book' }
  const first = await client.post('/v1/books', momo, key)
  const second = await client.post('/v1/books', momo, key)
  t.strictSame([first.status, second.status], [201, 201])
  t.equal(second.headers['idempotency-replayed'], 'true')
  t.equal((await client.get('/v1/books')).body.data.length, 1)
})

test('a book is changed, its summary removed, and it is deleted', async (t) => {
  const client = await startService(t)
  const authorId = await addAuthor(client)
  const { body, headers } = await client.post('/v1/books', { title: 'Momo', authorId, year: 1974, summary: 'Time.' })
  const path = `/v1/books/${body.data.id}`
  const changed = await client.patch(path, { year: 1973, summary: null }, { 'if-match': String(headers['etag']) })
  const { summary, ...others } = body.data
  t.strictSame([summary, changed.body.data], ['Time.', { ...others, year: 1973 }])
  t.equal((await client.get(path)).headers['etag'], changed.headers['etag'])
  t.equal((await client.delete(path)).status, 204)
})

test('an author with books is not deleted', async (t) => {
  const client = await startService(t)
  const { authorId } = (await client.get(`/v1/books/${await addBook(client)}`)).body.data
  t.equal((await client.delete(`/v1/authors/${authorId}`)).body.error.code, 'RESOURCE_IN_USE')
})

test('a book of an unknown author is refused with the field', async (t) => {
  const client = await startService(t)
  const authorId = '01911062-dc00-771a-b12f-f840ae896740'
  const { status, body } = await client.post('/v1/books', { title: 'Momo', authorId, year: 1973 })
  t.equal(status, 422)
  t.strictSame([body.error.code, body.error.errors[0].field], ['UNKNOWN_AUTHOR', 'body.authorId'])
})

test('books are listed by cursor, sorted and filtered', async (t) => {
  const client = await startService(t)
  const authorId = await addAuthor(client)
  for (const year of [1960, 1973, 1979]) await client.post('/v1/books', { title: `Book of ${year}`, authorId, year })
  const first = await client.get('/v1/books?sort=year&perPage=2')
  const next = first.body._links.find(({ rel }: { rel: string }) => rel === 'next')
  const second = await client.get(new URL(next.href).pathname + new URL(next.href).search)
  t.strictSame(
    [...first.body.data, ...second.body.data].map(({ year }) => year),
    [1960, 1973, 1979]
  )
  t.equal((await client.get(`/v1/books?authorId=${authorId}&year[gte]=1973`)).body.data.length, 2)
})

// [batch] begin
function operation(id: string, body: object) {
  return { id, method: 'POST', path: '/v1/books', body, headers: { 'idempotency-key': id } }
}

test('of an atomic batch, either all operations take effect or none', async (t) => {
  const client = await startService(t)
  const book = { title: 'Momo', authorId: await addAuthor(client), year: 1973 }
  const operations = [operation('valid', book), operation('invalid', { ...book, year: 'soon' })]
  const { status, body } = await client.post('/v1/book-batches', { atomic: true, operations })
  t.strictSame([status, ...body.data.map((outcome: { status: number }) => outcome.status)], [200, 424, 422])
  t.equal((await client.get('/v1/books')).body.data.length, 0)
})
// [batch] end

// [jobs] begin
test('a report is made in the background', async (t) => {
  const client = await startService(t)
  await addAuthor(client)
  const accepted = await client.post('/v1/book-reports')
  t.equal(accepted.status, 202)
  const path = `/v1/book-reports/${accepted.body.data.jobId}`
  const { body } = await client.get(path, undefined, { prefer: 'wait=20' })
  t.equal(body.data.status, 'completed')
  t.strictSame((await client.get(`${path}/result`)).body.data, { books: 0, authors: 1 })
})
// [jobs] end

// [webhooks] begin
test('a new book is sent to the subscribers', async (t) => {
  const receiver = await webhookReceiver(t)
  const client = await startService(t)
  await receiver.subscribe(client, '/v1/webhook-subscriptions', { eventTypes: ['book.created'] })
  await client.post('/v1/books', { title: 'Momo', authorId: await addAuthor(client), year: 1973 })
  const { event } = await receiver.next()
  t.strictSame([event.type, event.data.title], ['book.created', 'Momo'])
})
// [webhooks] end
