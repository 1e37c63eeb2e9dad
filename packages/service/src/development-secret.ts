import { createHmac, randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { weaknessOf } from '@concordat/plugin-kit/options'
import { ConfigurationError, reasonOf } from './start-error.ts'

/**
 * Returns a function that returns the secret of a variable in development. All derive from one random secret per data folder, which the first start
 * writes to a file beside it, `data.secret`, that only its user can read; with `memory://`, from one per process. A secret that is published, or the
 * same on two machines, would let its readers sign tokens of the service. Throws an error of one line for a file that others could know or replace.
 */
export function developmentSecrets(folder: string): (variable: string) => string {
  let known: string | undefined
  return (variable) => {
    const root = (known ??= folder === 'memory://' ? inProcess : secretIn(`${folder.replace(/[\\/]+$/, '')}.secret`))
    return createHmac('sha256', root).update(variable).digest('base64')
  }
}

const inProcess = newSecret()

function newSecret() {
  return randomBytes(32).toString('base64')
}

function secretIn(path: string) {
  try {
    return read(path) ?? create(path)
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    throw new ConfigurationError(
      `The secret of development cannot be written to ${path}: ${reasonOf(error)}. Set DATA_DIR to a folder beside which the service can write, or set the variables of the secrets.`,
      { cause: error }
    )
  }
}

function read(path: string) {
  let file: number
  try {
    // Windows has no such flag, nor permissions for others in `mode`.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw code === 'ELOOP' ? refused(path) : error
  }
  try {
    const facts = fstatSync(file)
    const isPrivate = process.getuid === undefined || (facts.uid === process.getuid() && (facts.mode & 0o077) === 0)
    if (!facts.isFile() || !isPrivate) throw refused(path)
    const secret = readFileSync(file, 'latin1').trim()
    if (weaknessOf(secret) !== undefined) throw refused(path)
    return secret
  } finally {
    closeSync(file)
  }
}

function refused(path: string) {
  return new ConfigurationError(
    `${path} must be a file with a random secret that only the user of this process can read, and not a link. Delete it: the next start writes another, and tokens of the former become invalid.`
  )
}

// Of two processes that start at the same time, one links its file, which is complete, and the other reads it.
function create(path: string): string {
  const own = `${path}.${process.pid}-${randomBytes(6).toString('hex')}`
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(own, `${newSecret()}\n`, { flag: 'wx', mode: 0o600 })
    linkSync(own, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(own, { force: true })
  }
  return read(path) ?? create(path)
}
