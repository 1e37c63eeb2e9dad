import { fork } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Refusal } from 'create-concordat'
import { type ServiceTexts, sendArgument } from './text-sender.ts'

// A start prepares the database of the service, which can take long on a slow machine.
const maxStartMs = 120_000
const maxErrorLength = 10_000

/**
 * Starts the service of the working directory by the script `start` of its `package.json`, up to the point where it would listen, and returns its texts. Its
 * database is PGlite in memory, unless `DATABASE_URL` is set. Throws a `Refusal` for a service that does not start.
 */
export async function textsOfService(folder: string): Promise<ServiceTexts> {
  const [file, ...flags] = entryOf(folder)
  // A bundle has no other file to load.
  const command = pathToFileURL(realpathSync(process.argv[1] as string)).href
  const child = fork(resolve(folder, file as string), [sendArgument], {
    cwd: folder,
    env: { ...process.env, PORT: '0', DATA_DIR: 'memory://' },
    execArgv: [...process.execArgv, '--import', command, ...flags],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: maxStartMs,
    killSignal: 'SIGKILL'
  })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-maxErrorLength)
  })
  let texts: ServiceTexts | undefined
  child.on('message', (message) => {
    texts ??= message as ServiceTexts
  })
  const signal = await new Promise((ended) => child.on('close', (_code, by) => ended(by)))
  if (texts !== undefined) return texts
  if (signal === 'SIGKILL')
    throw new Refusal(
      `The service was stopped before its texts could be read, as it is after ${maxStartMs / 1000} seconds. Run the command again, with DATABASE_URL if the database takes long.`
    )
  const reason =
    errors
      .trim()
      .split('\n')
      .findLast((line) => /^(?:Cannot start: |\w*Error\b)/.test(line)) ?? errors.trim().split('\n').at(-1)
  throw new Refusal(
    reason === undefined || reason === ''
      ? 'The service registered no error catalogue, so it has no texts. Register @concordat/conventions or @concordat/error-catalogue.'
      : `The service does not start, so its texts cannot be read: ${reason}`
  )
}

// As [file, ...flags of Node.js].
function entryOf(folder: string): readonly string[] {
  let script: unknown
  try {
    script = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')).scripts?.start
  } catch {
    throw new Refusal('There is no package.json here. Run the command in the folder of the service.')
  }
  const words = typeof script === 'string' ? script.split(/\s+/) : []
  const at = words.findIndex((word) => /^[^-].*\.[cm]?[jt]s$/.test(word))
  if (at === -1)
    throw new Refusal(
      'The script "start" in package.json does not name the file of the service. Set it, for example to "node src/main.ts".'
    )
  const flags = words.slice(words.lastIndexOf('node', at) + 1, at)
  return [words[at] as string, ...(words.includes('node') ? flags : [])]
}
