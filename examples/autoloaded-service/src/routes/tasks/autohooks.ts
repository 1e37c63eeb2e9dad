import type { FastifyPluginAsync } from 'fastify'
import { NotSignedInError } from '../../errors.ts'

/** The routes of this folder need a session. */
const hooks: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', async ({ session }) => {
    if (session.user === undefined) throw new NotSignedInError('Sign in first.')
  })
}

export default hooks
