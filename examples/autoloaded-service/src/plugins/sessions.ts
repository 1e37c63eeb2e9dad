import cookie from '@fastify/cookie'
import session from '@fastify/session'
import fp from 'fastify-plugin'
import type { Settings } from '../app.ts'

declare module 'fastify' {
  interface Session {
    user?: string
  }
}

/** Sessions in a cookie. */
export default fp<Settings>(async (app, { sessionSecret }) => {
  await app.register(cookie)
  await app.register(session, { secret: sessionSecret, cookie: { secure: false }, saveUninitialized: false })
})
