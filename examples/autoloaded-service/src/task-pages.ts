import { collection } from '@concordat/pagination-query'
import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { runMysql } from './mysql-lists.ts'

const Task = {
  type: 'object',
  required: ['id', 'title', 'hours', 'owner'],
  properties: { id: { type: 'integer' }, title: { type: 'string' }, hours: { type: 'integer' }, owner: { type: 'string' } }
} as const

const tasks = collection(Task)({
  name: 'tasks',
  style: 'page',
  id: 'id',
  defaultSort: ['id'],
  sort: { keys: ['id', 'hours'] },
  filter: { hours: ['eq', 'gte', 'lt'], owner: ['eq'] }
})

/** Adds the list of tasks with pages, sorting and filters. */
export function taskPages(app: FastifyInstance, database: Knex): void {
  app.get(
    '/tasks',
    { config: { collection: tasks }, schema: { response: { 200: { type: 'array', items: Task } } } },
    async (request, reply) => reply.page(await runMysql(database('tasks'), request.listQuery(tasks)))
  )
}
