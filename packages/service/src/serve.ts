import { once } from 'node:events'
import { createServer } from 'node:net'
import { callback, describeOptions, type OptionsOf, required, value } from '@concordat/plugin-options'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import type { Settings } from './settings.ts'
import { reasonOf } from './start-error.ts'

/** What {@link serve} needs of the settings. */
type Listening = Pick<Settings, 'host' | 'port' | 'drainSeconds' | 'fromVariables'>
type Build = (settings: never) => Promise<Pick<FastifyInstance, 'close' | 'hasRoute' | 'listen'>>

/** The description of {@link ServeOptions}. @readme */
export const serveOptions = describeOptions('service', {
  /** The name of the service in the line that says where it listens. */
  name: required(value<string>()),
  /** A path that the line suggests to try, such as `/v1/books`. */
  tryPath: value<string>({ default: '/' }),
  /** Returns the settings, such as those of `readSettings`. Its error is the only line of a start that fails. */
  settings: required(callback<() => Listening>('returns the settings')),
  /** Builds the app, which does not listen yet. */
  build: required(callback<Build>('builds the app'))
})

/** Options of {@link serve}. `build` gets what `settings` returns. */
export interface ServeOptions<Own extends Listening = Settings> extends Omit<OptionsOf<typeof serveOptions>, 'settings' | 'build'> {
  readonly settings: () => Own
  readonly build: (settings: Own) => ReturnType<Build>
}

// Together with the drain time, less than the ten seconds that most platforms give a process.
const closeSeconds = 9
const patienceMs = 1000

/**
 * Runs a service until SIGTERM or SIGINT: reads the settings, checks that the port is free, builds the app, listens, and prints one line with the address, the
 * reference page and a command to try. A signal drains and closes it, and the process ends with code 0. A start that fails prints one line, `Cannot start: …`, and ends
 * the process with code 1.
 */
export async function serve<Own extends Listening>(options: ServeOptions<Own>): Promise<void> {
  const { name, tryPath, build } = serveOptions.read(options as never)
  let app: Awaited<ReturnType<Build>> | undefined
  try {
    const settings = options.settings()
    const { host, port, drainSeconds } = settings
    // Before the database is prepared, so that a signal meanwhile also ends the process without an error message.
    closeWithGrace({ delay: (closeSeconds + drainSeconds) * 1000 }, async ({ err }) => {
      if (err) console.error(err)
      await app?.close()
    })
    await settings.fromVariables(['HOST', 'PORT'], requireFreePort(host, port))
    const notice = setTimeout(() => console.error(`${name} is starting: it prepares its database.`), patienceMs)
    app = await build(settings as never).finally(() => clearTimeout(notice))
    const address = await settings.fromVariables(['HOST', 'PORT'], app.listen({ host, port }))
    const reference = app.hasRoute({ method: 'GET', url: '/reference' }) ? ` – reference: ${address}/reference` : ''
    console.log(`${name} at ${address}${reference} – try: curl -s ${address}${tryPath}`)
  } catch (error) {
    console.error(`Cannot start: ${reasonOf(error)}`)
    await app?.close()
    process.exit(1)
  }
}

// A start that fails for its port should fail before its database is prepared.
async function requireFreePort(host: string, port: number) {
  if (port === 0) return
  const server = createServer()
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
