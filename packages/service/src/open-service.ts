import type { FastifyInstance } from 'fastify'

/** Something that must be closed with the service, such as a database or a queue. */
interface Closeable {
  close(): unknown
}

/**
 * Opens what a service needs, and registers its plugins and routes. Each resource that is passed to `opened` is closed with the app: after its requests,
 * jobs and deliveries have ended, the last one first. If `open` fails, what is open already is closed, and the error is thrown again.
 *
 * @example
 * return openService(app, async (opened) => {
 *   const database = opened(await openDatabase({ url, folder }))
 *   const queue = opened(await database.openQueue(), (queue) => queue.close(0))
 *   await app.register(conventions, { … })
 * })
 */
export async function openService<App extends Pick<FastifyInstance, 'addHook' | 'close'>>(
  app: App,
  open: (opened: <Resource extends Closeable>(resource: Resource, close?: (resource: Resource) => unknown) => Resource) => Promise<void>
): Promise<App> {
  const closing: (() => unknown)[] = []
  // Fastify runs the hook that was added first as the last one.
  app.addHook('onClose', async () => {
    for (const close of closing.toReversed()) await close()
  })
  try {
    await open((resource, close = (closeable) => closeable.close()) => {
      closing.push(() => close(resource))
      return resource
    })
  } catch (error) {
    await app.close()
    throw error
  }
  return app
}
