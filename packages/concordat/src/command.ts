#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { breakingChanges, changesText, type OpenapiDocument } from '@concordat/openapi/diff'
import { findingsText, type LintOptions, lintDocument } from '@concordat/openapi/lint'
import { Refusal } from 'create-concordat'
import { projectIn } from './add/project.ts'
import { addResource } from './add/resource.ts'
import { addVersion } from './add/version.ts'
import { versionClients } from './version-clients.ts'

const usage = `concordat add resource <name>, concordat add version <number>
  Adds a resource or an API version to a project of npm create concordat, with tests.
concordat diff <released.json> <present.json>
  Fails when the second document breaks clients of the first (rules V3, V4).
concordat lint <openapi.json> [--with <module>] [--waive <rule>=<reason>] [--warn]
  Fails when the document breaks a rule. --with adds the lints that a module exports, for example @concordat/versioning.
  --waive skips a rule. With --warn the command prints the findings and succeeds. --with and --waive can be repeated.
concordat version-clients <number> [--days <days>] [--confirmed <client>]
  Fails when clients have used the version in the last 30 days, with their names. --confirmed leaves out a client, and can be repeated.`

// 0: no findings. 1: findings. 2: the command was invalid.
try {
  const { text, isWrong } = await run()
  console.log(text)
  process.exitCode = isWrong ? 1 : 0
} catch (error) {
  // A refusal says what to do.
  console.error(error instanceof Refusal ? error.message : `${(error as Error).message}\n\n${usage}`)
  process.exitCode = 2
}

async function run() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      with: { type: 'string', multiple: true },
      waive: { type: 'string', multiple: true },
      warn: { type: 'boolean' },
      days: { type: 'string', default: '30' },
      confirmed: { type: 'string', multiple: true, default: [] }
    }
  })
  const [command, ...files] = positionals
  const [kind, name = ''] = files
  if (command === 'add' && kind === 'resource' && files.length === 2)
    return { text: addResource(projectIn(process.cwd()), name), isWrong: false }
  if (command === 'add' && kind === 'version' && files.length === 2)
    return { text: addVersion(projectIn(process.cwd()), name, new Date()), isWrong: false }
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
    if (!/^[1-9]\d*$/.test(kind as string)) throw new Error(`"${kind}" is not the number of a version, for example 1.`)
    if (!/^[1-9]\d{0,3}$/.test(values.days)) throw new Error(`--days ${values.days} is not a number of days, for example 30.`)
    const { text, isUsed } = await versionClients(`v${kind}`, Number(values.days), values.confirmed)
    return { text, isWrong: isUsed }
  }
  throw new Error(command === undefined ? 'The command is missing.' : `"${[command, ...files].join(' ')}" is not a valid command.`)
}

async function readDocument(file: string): Promise<OpenapiDocument> {
  let document: OpenapiDocument | null
  try {
    document = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`, { cause: error })
  }
  if (String(document?.openapi).startsWith('3.1.')) return document as OpenapiDocument
  throw new Error(`${file} is not an OpenAPI 3.1 document.`)
}

// Resolved from the working directory, because the module belongs to the project there.
async function readLints(name: string) {
  const path = createRequire(`${process.cwd()}/`).resolve(name)
  const { lints } = (await import(pathToFileURL(path).href)) as { readonly lints?: NonNullable<LintOptions['routeLints']> }
  if (Array.isArray(lints)) return lints
  throw new Error(`${name} has no export named "lints". Export an array of lints under this name.`)
}

function readWaiver(text: string): readonly [string, string] {
  const [, rule, reason] = /^([A-Z]\d+)=(.*\S.*)$/.exec(text) ?? []
  if (rule !== undefined && reason !== undefined) return [rule, reason]
  throw new Error(`--waive ${text} requires a reason. Use the form <rule>=<reason>, for example F1=old clients.`)
}
