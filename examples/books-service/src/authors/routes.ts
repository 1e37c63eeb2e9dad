import { runSql } from '@concordat/pagination-query/sql'
import { found, statementsOn, type Versioned, validatorOf } from '@concordat/postgres/rows'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { v7 } from 'uuid'
import { IdPath, Nothing, type Resource } from '../fields.ts'
import { authorTable } from './repository.ts'
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
    async (request, reply) => reply.page(await runSql(database.client, request.listQuery(authorCollection)))
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
      const values = { id: v7(), ...request.body }
      const author = await authorTable.insert(statementsOn(request.transaction), values)
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
    async (request, reply) => linked(reply, found(await authorTable.find(database, request.params)))
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
      const { transaction, params, body, preconditions } = request
      const author = await authorTable.update(statementsOn(transaction), params, body, preconditions)
      return linked(reply, author)
    }
  )

  app.delete(
    '/authors/:id',
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
      await authorTable.delete(statementsOn(transaction), params, preconditions)
      return reply.noContent()
    }
  )
}

async function validator(request: FastifyRequest<{ Params: { id: string } }>) {
  return validatorOf(await authorTable.find(statementsOn(request.transaction), request.params))
}

function linked(reply: Pick<FastifyReply, 'link' | 'entityTag'>, author: Versioned<Author>) {
  reply.entityTag(author.version)
  reply.link('collection', '/authors')
  return author
}
