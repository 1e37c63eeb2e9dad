import { changed, expectedVersions, found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IdPath, Nothing, type Resource } from '../fields.ts'
import { changeBook, createBook, deleteBook, findBook, listBooks } from './repository.ts'
import { Book, BookChanges, Books, bookCollection, NewBook } from './schemas.ts'

const permissions = ['books:write'] // [auth]

export const books: Resource = async (app, { database }) => {
  app.get(
    '/books',
    {
      config: {
        public: true, // [auth]
        collection: bookCollection
      },
      schema: { response: { 200: Books } }
    },
    async (request, reply) => reply.page(await listBooks(database, request.listQuery(bookCollection)))
  )

  app.post(
    '/books',
    {
      config: {
        permissions, // [auth]
        idempotency: 'required',
        transaction: true,
        openapi: { errors: ['UNKNOWN_AUTHOR'], headers: { ETag: 'The version, for `If-Match`.' } }
      },
      schema: { body: NewBook, response: { 201: Book } }
    },
    async (request, reply) => {
      const book = await createBook(statementsOn(request.transaction), request.body)
      await app.webhooks.emit('book.created', book) // [webhooks]
      return reply.created(`/books/${book.id}`, linked(reply, book))
    }
  )

  app.get(
    '/books/:id',
    {
      config: {
        public: true, // [auth]
        projection: { id: 'id' }
      },
      schema: { params: IdPath, response: { 200: Book } }
    },
    async (request, reply) => linked(reply, found(await findBook(database, request.params.id)))
  )

  app.patch(
    '/books/:id',
    {
      config: {
        permissions, // [auth]
        idempotency: 'off',
        requireIfMatch: true,
        validator,
        transaction: true,
        openapi: { errors: ['UNKNOWN_AUTHOR'] }
      },
      schema: { params: IdPath, body: BookChanges, response: { 200: Book } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const rows = statementsOn(request.transaction)
      const row = await changeBook(rows, params.id, body, expectedVersions(preconditions))
      const book = await changed(row, preconditions, () => findBook(rows, params.id))
      await app.webhooks.emit('book.updated', book) // [webhooks]
      return linked(reply, book)
    }
  )

  app.delete(
    '/books/:id',
    {
      config: {
        permissions, // [auth]
        validator,
        transaction: true
      },
      schema: { params: IdPath, response: { 204: Nothing } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const rows = statementsOn(request.transaction)
      const id = await deleteBook(rows, params.id, expectedVersions(preconditions))
      await changed(id, preconditions, () => findBook(rows, params.id))
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  return validatorOf(await findBook(statementsOn(request.transaction), request.params.id))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, book: Versioned<Book>) {
  reply.entityTag(book.version)
  reply.link('collection', '/books')
  reply.link('author', `/authors/${book.authorId}`)
  return book
}
