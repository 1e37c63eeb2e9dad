import type { FastifyPluginAsync } from 'fastify'
import type { Settings } from '../../app.ts'
import type { Task } from '../../database.ts'
import { ConflictError, ForbiddenError, NotFoundError } from '../../errors.ts'

const params = { type: 'object', properties: { id: { type: 'integer' } } }
const body = {
  type: 'object',
  additionalProperties: false,
  required: ['title', 'hours'],
  properties: { title: { type: 'string', minLength: 1, maxLength: 100 }, hours: { type: 'integer', minimum: 1 } }
}
const querystring = { type: 'object', properties: { minHours: { type: 'integer', default: 0 } } }

type New = Pick<Task, 'title' | 'hours'>
interface Item {
  Params: { id: number }
}

/** The tasks of all users. Only the owner changes a task. */
const tasks: FastifyPluginAsync<Settings> = async (app, { database }) => {
  const rows = () => database<Task & { picture: Buffer | null }>('tasks')

  app.get<{ Querystring: { minHours: number } }>('/', { schema: { querystring } }, async ({ query }) =>
    rows().select('id', 'title', 'hours', 'owner').where('hours', '>=', query.minHours).orderBy('id')
  )
  app.post<{ Body: New }>('/', { schema: { body } }, async (request, reply) => {
    const { title, hours } = request.body
    if ((await rows().where({ title }).first('id')) !== undefined) throw new ConflictError('A task has this title.')
    const [id] = await rows().insert({ title, hours, owner: String(request.session.user) })
    return reply
      .code(201)
      .header('location', `/tasks/${id}`)
      .send(await taskOf(Number(id)))
  })
  app.get<Item>('/:id', { schema: { params } }, async ({ params: { id } }) => taskOf(id))
  app.patch<Item & { Body: Partial<New> }>('/:id', { schema: { params, body: { ...body, required: [] } } }, async (request) => {
    await requireOwn(request.params.id, request.session.user)
    await rows().where({ id: request.params.id }).update(request.body)
    return taskOf(request.params.id)
  })
  app.delete<Item>('/:id', { schema: { params } }, async (request, reply) => {
    await requireOwn(request.params.id, request.session.user)
    await rows().where({ id: request.params.id }).delete()
    return reply.code(204).send()
  })
  // Plain text is parsed by Fastify itself.
  app.put<Item & { Body: string }>('/:id/title', { schema: { params } }, async (request) => {
    await requireOwn(request.params.id, request.session.user)
    await rows().where({ id: request.params.id }).update({ title: request.body })
    return taskOf(request.params.id)
  })
  app.put<Item>('/:id/picture', { schema: { params } }, async (request, reply) => {
    await requireOwn(request.params.id, request.session.user)
    const file = await request.file()
    await rows()
      .where({ id: request.params.id })
      .update({ picture: (await file?.toBuffer()) ?? null })
    return reply.code(204).send()
  })
  app.get<Item>('/:id/picture', { schema: { params } }, async ({ params: { id } }, reply) => {
    const found = await rows().where({ id }).first('picture')
    if (!found?.picture) throw new NotFoundError('The task has no picture.')
    return reply.type('image/png').send(found.picture)
  })

  async function taskOf(id: number): Promise<Task> {
    const task = await rows().where({ id }).first('id', 'title', 'hours', 'owner')
    if (task === undefined) throw new NotFoundError('The task does not exist.')
    return task
  }

  async function requireOwn(id: number, user: string | undefined) {
    const { owner } = await taskOf(id)
    if (owner !== user) throw new ForbiddenError('The task belongs to another user.')
  }
}

export default tasks
