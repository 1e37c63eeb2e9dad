import type { FastifyInstance } from 'fastify'

/** Something that must be closed with the service, such as a database or a queue. */
interface Closeable {
  close(): unknown
}

/** Registers a resource to be closed with the service, and returns it. `close` is its method of this name, unless it is passed. */
export type Opened = <Resource extends Closeable>(resource: Resource, close?: (resource: Resource) => unknown) => Resource

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
  open: (opened: Opened) => Promise<void>
): Promise<App> {
  const closing: (() => unknown)[] = []
  // Fastify runs the hook that was added first as the last one.
  app.addHook('onClose', () => closeAll(closing))
  try {
    await open((resource, close = (closeable) => closeable.close()) => {
      closing.push(() => close(resource))
      return resource
    })
  } catch (error) {
    // What failed first is the reason, also if something cannot be closed.
    await app.close().catch(() => {})
    throw error
  }
  return app
}

// A resource that cannot be closed does not leave the others open.
async function closeAll(closing: readonly (() => unknown)[]) {
  const failures: unknown[] = []
  for (const close of closing.toReversed()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
