import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Who may use the routes that are not in a version of the API: those below and those of the plugins. */
export const outside = {
  '/*': 'public',
  '/account': 'public',
  '/contact': 'public',
  '/events': 'public',
  '/sockets': 'public',
  '/docs/*': 'public',
  '/legacy/*': 'public',
  '/status': 'public',
  '/metrics': ['metrics:read'],
  '/uploads': ['uploads:create']
} as const

/** Adds the pages, uploads and streams that the service had before. They are ordinary Fastify routes. */
export function addPages(app: FastifyInstance): void {
  app.get('/account', async (request, reply) => {
    const session = request.session as unknown as { visits?: number }
    session.visits = (session.visits ?? 0) + 1
    return reply.view('account.ejs', { visits: session.visits })
  })
  app.get('/contact', async (_request, reply) => ({ token: reply.generateCsrf() }))
  app.post('/contact', { preHandler: (...input) => app.csrfProtection(...input) }, async ({ body }) => body)
  app.post('/uploads', async (request) => ({ bytes: (await (await request.file())?.toBuffer())?.length }))
  app.get('/events', { sse: true } as object, async (_request, reply) => {
    await (reply as unknown as { sse: { send: (message: object) => Promise<void> } }).sse.send({ data: 'hello' })
  })
  app.get('/sockets', { websocket: true }, (socket: Socket, _request: FastifyRequest) => {
    socket.on('message', (message) => socket.send(`echo ${String(message)}`))
  })
}

interface Socket {
  readonly on: (event: 'message', listener: (message: unknown) => void) => void
  readonly send: (text: string) => void
}
