import { once } from 'node:events'
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { callback, describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import { whenParentEnds } from './parent-watch.ts'
import type { Settings } from './settings.ts'
import { reasonOf } from './start-error.ts'

/** What {@link serve} needs of the settings. */
type Listening = Pick<Settings, 'host' | 'port' | 'drainSeconds' | 'isLocal' | 'fromVariables'>
type Service = Pick<FastifyInstance, 'close' | 'hasRoute' | 'listen' | 'ready'>

/** The description of {@link ServeOptions}. @readme */
export const serveOptions = describeOptions('service', {
  /** The name of the service in the line that says where it listens. */
  name: required(value<string>()),
  /** A path that the line suggests to try, such as `/v1/books`. */
  tryPath: value<string>({ default: '/' }),
  /** Returns the settings, such as those of `readSettings`. Its error is the only line of a start that fails. */
  settings: required(callback<() => Listening>('returns the settings')),
  /** Builds the app, which does not listen yet. */
  build: required(callback<(settings: never) => Promise<Service>>('builds the app'))
})

/** Options of {@link serve}. `build` gets what `settings` returns. */
export interface ServeOptions<Own extends Listening = Settings> extends Omit<OptionsOf<typeof serveOptions>, 'settings' | 'build'> {
  readonly settings: () => Own
  readonly build: (settings: Own) => Promise<Service>
}

// Together with the drain time, less than the ten seconds that most platforms give a process.
const closeSeconds = 9
const patienceMs = 1000
// Such a proxy cannot be recognized: its requests are those of a client on this machine.
const ofDevelopment =
  'development: clients of a proxy on this machine that passes neither X-Forwarded-For nor the host get plain HTTP, the users of development, the reference page, metrics and names of stores; behind a proxy set NODE_ENV=production'

/**
 * Runs a service until SIGTERM or SIGINT: reads the settings, checks that the port is free, builds the app, listens, and prints one line with the address, the
 * reference page and a command to try. A signal drains and closes it, and the process ends with code 0; so does the end of the npm script that started it. A start that fails prints one line, `Cannot start: …`, and ends
 * the process with code 1. On a terminal, a start that takes longer than a second says what it does.
 */
export async function serve<Own extends Listening>(options: ServeOptions<Own>): Promise<void> {
  const { name, tryPath } = serveOptions.read(options)
  let app: Service | undefined
  try {
    const settings = options.settings()
    const { host, port, drainSeconds, isLocal } = settings
    // Before the database is prepared, so that a signal meanwhile also ends the process without an error message.
    const { close } = closeWithGrace({ delay: (closeSeconds + drainSeconds) * 1000 }, async ({ err }) => {
      if (err) say(process.stderr, inspect(err))
      await app?.close()
    })
    whenParentEnds(() => {
      // The reader of a pipe may have ended too.
      process.stderr.once('error', () => {})
      say(process.stderr, `${name} stops, because the script that started it has ended.`)
      close()
    })
    await blaming(settings, requireFreePort(host, port))
    const stopWaiting = sayThatItStarts(name)
    app = await options.build(settings).finally(stopWaiting)
    // Whatever prevents the app from getting ready has nothing to do with its address.
    await app.ready()
    const address = await blaming(settings, app.listen({ host, port }))
    const reference = app.hasRoute({ method: 'GET', url: '/reference' }) ? ` – reference: ${address}/reference` : ''
    say(process.stdout, `${name} at ${address}${reference} – try: curl -s ${address}${tryPath}${isLocal ? ` – ${ofDevelopment}` : ''}`)
  } catch (error) {
    say(process.stderr, `Cannot start: ${reasonOf(error)}`)
    await app?.close().catch(() => {})
    process.exit(1)
  }
}

// The variable that is wrong, by the code of the error of the operating system.
const variables: Readonly<Record<string, string>> = {
  EADDRINUSE: 'PORT',
  EACCES: 'PORT',
  EADDRNOTAVAIL: 'HOST',
  EAFNOSUPPORT: 'HOST',
  EAI_AGAIN: 'HOST',
  ENOTFOUND: 'HOST'
}

/** Waits for a listening server. An error that a variable explains names the variable; no other error does. */
async function blaming<Result>({ fromVariables }: Listening, listening: Promise<Result>): Promise<Result> {
  return listening.catch(async (error: NodeJS.ErrnoException) => {
    const variable = variables[String(error.code)]
    if (variable === undefined) throw error
    return fromVariables([variable], listening)
  })
}

// A start that fails for its port should fail before its database is prepared.
async function requireFreePort(host: string, port: number) {
  if (port === 0) return
  const server = createServer((socket) => socket.destroy())
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

// A log needs no progress, and a start that fails writes one line.
function sayThatItStarts(name: string) {
  const notice = () => say(process.stderr, `${name} is starting. It prepares its database …`)
  const timer = process.stderr.isTTY ? setTimeout(notice, patienceMs) : undefined
  return () => clearTimeout(timer)
}

function say(stream: NodeJS.WriteStream, text: string) {
  stream.write(`${text}\n`)
}
