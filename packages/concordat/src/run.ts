import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { breakingChanges, changesText, type OpenapiDocument } from '@concordat/openapi/diff'
import { findingsText, type LintOptions, lintDocument } from '@concordat/openapi/lint'
import { printable, Refusal, readFlags } from 'create-concordat'
import { projectIn } from './add/project.ts'
import { addResource } from './add/resource.ts'
import { addVersion } from './add/version.ts'
import { isScheduleAction, schedules } from './schedules.ts'
import { runInThread } from './thread.ts'
import { versionClients } from './version-clients.ts'

// The document of a large service has a few megabytes.
const maxDocumentBytes = 64 * 1024 * 1024

const usage = `concordat add resource <name>, concordat add version <number>
  Adds a resource or an API version to a project of npm create concordat, with tests.
concordat diff <released.json> <present.json>
  Fails when the second document breaks clients of the first (rules V3, V4).
concordat lint <openapi.json> [--with <module>] [--waive <rule>=<reason>] [--warn]
  Fails when the document breaks a rule. --with adds the lints that a module exports, for example @concordat/versioning.
  --waive skips a rule. With --warn the command prints the findings and succeeds. --with and --waive can be repeated.
concordat version-clients <number> [--days <days>] [--confirmed <client>]
  Fails when clients have used the version in the last 30 days, with their names, and when its use was not counted on all of these days.
  --confirmed leaves out a client, and can be repeated.
concordat schedules, concordat schedules pause|resume|run <name>
  Lists the schedules of the service in DATABASE_URL or DATA_DIR with their last and next run, or pauses, resumes or runs one.`

/** Runs the command. Returns the exit code: 0 without findings, 1 with findings, 2 when the command or a file is invalid. */
export async function run(args: readonly string[]): Promise<number> {
  if (isMainThread && (args[0] === 'diff' || args[0] === 'lint')) return runInThread(args)
  try {
    const { text, isWrong = false } = await perform(args)
    console.log(text)
    return isWrong ? 1 : 0
  } catch (error) {
    console.error(printable(lineOf(error as Error)))
    return 2
  }
}

async function perform(args: readonly string[]): Promise<{ readonly text: string; readonly isWrong?: boolean }> {
  const options = {
    with: { type: 'string', multiple: true },
    waive: { type: 'string', multiple: true },
    warn: { type: 'boolean' },
    days: { type: 'string', default: '30' },
    confirmed: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' }
  } as const
  const { values, positionals } = readFlags({ args: [...args], allowPositionals: true, options }, 'npx concordat')
  const [command, ...files] = positionals
  const [kind, name = ''] = files
  if (values.help === true) return { text: usage }
  if (command === 'add' && kind === 'resource' && files.length === 2) return { text: addResource(projectIn(process.cwd()), name) }
  if (command === 'add' && kind === 'version' && files.length === 2) return { text: addVersion(projectIn(process.cwd()), name, new Date()) }
  if (command === 'diff' && files.length === 2) {
    const [released, present] = (await Promise.all(files.map(readDocument))) as [OpenapiDocument, OpenapiDocument]
    const changes = breakingChanges(released, present)
    return { text: changesText(changes), isWrong: changes.length > 0 }
  }
  if (command === 'lint' && files.length === 1) {
    const routeLints = (await Promise.all((values.with ?? []).map(readLints))).flat()
    const waivers = Object.fromEntries((values.waive ?? []).map(readWaiver))
    const findings = lintDocument(await readDocument(files[0] as string), { routeLints, waivers })
    return { text: findingsText(findings), isWrong: findings.length > 0 && values.warn !== true }
  }
  if (command === 'version-clients' && files.length === 1) {
    if (!/^[1-9]\d*$/.test(kind as string)) throw new Refusal(`"${kind}" is not the number of a version, for example 1.`)
    if (!/^[1-9]\d{0,3}$/.test(values.days)) throw new Refusal(`--days ${values.days} is not a number of days, for example 30.`)
    const { text, isUsed, isCovered } = await versionClients(`v${kind}`, Number(values.days), values.confirmed ?? [])
    return { text, isWrong: isUsed || !isCovered }
  }
  if (command === 'schedules' && files.length === 0) return { text: await schedules(undefined, '') }
  if (command === 'schedules' && files.length === 2 && isScheduleAction(kind)) return { text: await schedules(kind, name) }
  const what = command === undefined ? 'The command is missing' : `"${positionals.join(' ')}" is not a valid command`
  throw new Refusal(`${what}. Run npx concordat --help for the commands.`)
}

// One line: Node.js adds the modules that required a missing one.
function lineOf({ message }: Error): string {
  if (message === 'Maximum call stack size exceeded')
    return 'The document is nested too deeply, or its references form too long a chain. Describe it with fewer levels.'
  return message.split('\n')[0] as string
}

async function readDocument(file: string): Promise<OpenapiDocument> {
  const document = parsed(file, await contentOf(file))
  if (String(document?.openapi).startsWith('3.1.')) return document as OpenapiDocument
  throw new Refusal(`${file} is not an OpenAPI 3.1 document.`)
}

// A pipe or a device can be without an end, or wait for another program.
async function contentOf(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file).then((stats) => (stats.isFile() ? stats : Promise.reject(new Error('it is not a regular file.'))))
    if (size > maxDocumentBytes) throw new Error(`it has ${size} bytes, and at most ${maxDocumentBytes} are read.`)
    return await readFile(file)
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${(error as Error).message}`)
  }
}

// The message of the parser is left out, because it quotes the file: a link can lead to a file with secrets.
function parsed(file: string, content: Buffer): OpenapiDocument | null {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content))
  } catch (error) {
    const [, place] = / (at position \d+)/.exec((error as Error).message) ?? []
    throw new Refusal(`${file} is not JSON in UTF-8${place === undefined ? '' : `: it is invalid ${place}`}.`)
  }
}

// Resolved from the working directory, because the module belongs to the project there.
async function readLints(name: string) {
  const path = createRequire(`${process.cwd()}/`).resolve(name)
  const { lints } = (await import(pathToFileURL(path).href)) as { readonly lints?: NonNullable<LintOptions['routeLints']> }
  if (Array.isArray(lints)) return lints
  throw new Refusal(`${name} has no export named "lints". Export an array of lints under this name.`)
}

function readWaiver(text: string): readonly [string, string] {
  const [, rule, reason] = /^([A-Z]\d+)=(.*\S.*)$/.exec(text) ?? []
  if (rule !== undefined && reason !== undefined) return [rule, reason]
  throw new Refusal(`--waive ${text} requires a reason. Use the form <rule>=<reason>, for example F1=old clients.`)
}
