import { Readable } from 'node:stream'
import type { FastifyPluginAsync } from 'fastify'
import type { Settings } from '../../app.ts'
import type { Task } from '../../database.ts'
import { taskPages } from '../../task-pages.ts'

const total = { type: 'object', properties: { tasks: { type: 'integer' }, hours: { type: 'integer' } } }

/** Reports for everyone. */
const reports: FastifyPluginAsync<Settings> = async (app, { database, adoptInReports, pages }) => {
  await adoptInReports?.(app)
  if (pages) taskPages(app, database)
  else app.get('/tasks', async () => database<Task>('tasks').select('id', 'title', 'hours', 'owner').orderBy('id'))
  app.get('/totals', { schema: { response: { 200: total } } }, async () => {
    const row = await database('tasks').count({ tasks: '*' }).sum({ hours: 'hours' }).first()
    return { tasks: Number(row?.['tasks']), hours: Number(row?.['hours']) }
  })
  app.get('/tasks.csv', async (_request, reply) => {
    const titles = await database<Task>('tasks').orderBy('id').pluck('title')
    return reply.type('text/csv').send(Readable.from(titles.map((title) => `${title}\r\n`)))
  })
}

export default reports
