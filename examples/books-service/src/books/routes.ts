import { runSql } from '@concordat/pagination-query/sql'
import { found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 } from 'uuid'
import { IdPath, Nothing, type Resource } from '../fields.ts'
import { bookTable } from './repository.ts'
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
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(bookCollection)))
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
      const values = { id: v7(), ...request.body }
      const book = await bookTable.insert(statementsOn(request.transaction), values)
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
    async (request, reply) => linked(reply, found(await bookTable.find(database, request.params)))
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
      const { transaction, params, body, preconditions } = request
      const book = await bookTable.update(statementsOn(transaction), params, body, preconditions)
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
        transaction: true,
        openapi: { errors: ['RESOURCE_IN_USE'] }
      },
      schema: { params: IdPath, response: { 204: Nothing } }
    },
    async ({ transaction, params, preconditions }, reply) => {
      await bookTable.delete(statementsOn(transaction), params, preconditions)
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  return validatorOf(await bookTable.find(statementsOn(request.transaction), request.params))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, book: Versioned<Book>) {
  reply.entityTag(book.version)
  reply.link('collection', '/books')
  reply.link('author', `/authors/${book.authorId}`)
  return book
}
