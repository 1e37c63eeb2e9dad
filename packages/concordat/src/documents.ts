import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { breakingChanges, changesText, type OpenapiDocument } from '@concordat/openapi/diff'
import { findingsText, type LintOptions, lintDocument } from '@concordat/openapi/lint'
import { Refusal } from 'create-concordat'

// The document of a large service has a few megabytes.
const maxDocumentBytes = 64 * 1024 * 1024
const maxFetchSeconds = 60

/** What a command prints, and whether it has findings. */
export interface Report {
  readonly text: string
  readonly isWrong: boolean
}

/** Compares two documents. Throws a `Refusal` for a file that is not one. */
export async function diff(files: readonly string[]): Promise<Report> {
  const [released, present] = (await Promise.all(files.map((file) => readDocument(file)))) as [OpenapiDocument, OpenapiDocument]
  const changes = breakingChanges(released, present)
  return { text: changesText(changes), isWrong: changes.length > 0 }
}

/** Lints a document, also with the lints of modules, and without rules that are waived. Throws a `Refusal` for an invalid file, module or waiver. */
export async function lint(file: string, modules: readonly string[], waived: readonly string[], warns: boolean): Promise<Report> {
  const routeLints = (await Promise.all(modules.map(readLints))).flat()
  const waive = Object.fromEntries(waived.map(readWaiver))
  const findings = lintDocument(await readDocument(file), { routeLints, waive })
  return { text: findingsText(findings), isWrong: findings.length > 0 && !warns }
}

/** Reads an OpenAPI 3.1 document from a file, or with `read`. Throws a `Refusal` for another document. */
export async function readDocument(file: string, read: (source: string) => Promise<unknown> = readJson): Promise<OpenapiDocument> {
  const document = (await read(file)) as OpenapiDocument | null
  if (String(document?.openapi).startsWith('3.1.')) return document as OpenapiDocument
  throw new Refusal(`${file} is not an OpenAPI 3.1 document.`)
}

/** Reads a document from a file or from an address of http. Throws a `Refusal` for one that cannot be read. */
export async function readSource(source: string): Promise<unknown> {
  return /^https?:/.test(source) ? fetched(source) : readJson(source)
}

async function fetched(address: string): Promise<unknown> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(maxFetchSeconds * 1000), headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`the response has the status ${response.status}.`)
    if (Number(response.headers.get('content-length') ?? 0) > maxDocumentBytes)
      throw new Error(`it has more than ${maxDocumentBytes} bytes.`)
    return await response.json()
  } catch (error) {
    throw new Refusal(`${address} cannot be read: ${(error as Error).message}`)
  }
}

/** Reads a file with JSON. Throws a `Refusal` for one that cannot be read, is too large or is not JSON. */
export async function readJson(file: string): Promise<OpenapiDocument | null> {
  return parsed(file, await contentOf(file))
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
