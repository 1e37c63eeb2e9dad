import type { FastifyPluginAsync } from 'fastify'
import { ForbiddenError, NotSignedInError } from '../../errors.ts'

const body = {
  type: 'object',
  required: ['user', 'code'],
  properties: { user: { type: 'string', minLength: 1 }, code: { type: 'string' } }
}
// In a real service, the code is sent by e-mail.
const codes: Readonly<Record<string, string>> = { ada: '1815', grace: '1906' }

/** Users sign in by a form, or with JSON. */
const signIns: FastifyPluginAsync = async (app) => {
  app.post<{ Body: { user: string; code: string } }>('/', { schema: { body } }, async (request, reply) => {
    const { user, code } = request.body
    if (codes[user] !== code) throw new ForbiddenError('The code is wrong.')
    request.session.user = user
    return request.headers['content-type'] === 'application/json' ? { user } : reply.redirect('/tasks', 303)
  })
  app.delete('/', async (request, reply) => {
    if (request.session.user === undefined) throw new NotSignedInError('Sign in first.')
    await request.session.destroy()
    return reply.code(204).send()
  })
}

export default signIns
