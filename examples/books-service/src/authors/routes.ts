import { changed, expectedVersions, found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { IdPath, Nothing, type Resource } from '../fields.ts'
import { changeAuthor, createAuthor, deleteAuthor, findAuthor, listAuthors } from './repository.ts'
import { Author, AuthorChanges, Authors, authorCollection, NewAuthor } from './schemas.ts'

const permissions = ['authors:write'] // [auth]

export const authors: Resource = async (app, { database }) => {
  app.get(
    '/authors',
    {
      config: {
        public: true, // [auth]
        collection: authorCollection
      },
      schema: { response: { 200: Authors } }
    },
    async (request, reply) => reply.page(await listAuthors(database, request.listQuery(authorCollection)))
  )

  app.post(
    '/authors',
    {
      config: {
        permissions, // [auth]
        idempotency: 'accepted',
        transaction: true,
        openapi: { errors: ['AUTHOR_EXISTS'], headers: { ETag: 'The version, for `If-Match`.' } }
      },
      schema: { body: NewAuthor, response: { 201: Author } }
    },
    async (request, reply) => {
      const author = await createAuthor(statementsOn(request.transaction), request.body)
      return reply.created(`/authors/${author.id}`, linked(reply, author))
    }
  )

  app.get(
    '/authors/:id',
    {
      config: {
        public: true, // [auth]
        projection: { id: 'id' }
      },
      schema: { params: IdPath, response: { 200: Author } }
    },
    async (request, reply) => linked(reply, found(await findAuthor(database, request.params.id)))
  )

  app.patch(
    '/authors/:id',
    {
      config: {
        permissions, // [auth]
        idempotency: 'off',
        requireIfMatch: true,
        validator,
        transaction: true,
        openapi: { errors: ['AUTHOR_EXISTS'] }
      },
      schema: { params: IdPath, body: AuthorChanges, response: { 200: Author } }
    },
    async (request, reply) => {
      const { params, body, preconditions } = request
      const rows = statementsOn(request.transaction)
      const author = await changeAuthor(rows, params.id, body, expectedVersions(preconditions))
      return linked(reply, await changed(author, preconditions, () => findAuthor(rows, params.id)))
    }
  )

  app.delete(
    '/authors/:id',
    {
      config: {
        permissions, // [auth]
        validator,
        transaction: true,
        openapi: { errors: ['AUTHOR_HAS_BOOKS'] } // [books]
      },
      schema: { params: IdPath, response: { 204: Nothing } }
    },
    async (request, reply) => {
      const { params, preconditions } = request
      const rows = statementsOn(request.transaction)
      const id = await deleteAuthor(rows, params.id, expectedVersions(preconditions))
      await changed(id, preconditions, () => findAuthor(rows, params.id))
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  return validatorOf(await findAuthor(statementsOn(request.transaction), request.params.id))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, author: Versioned<Author>) {
  reply.entityTag(author.version)
  reply.link('collection', '/authors')
  return author
}
