import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { breakingChanges, changesText, descriptionDigest, digestsFile } from '@concordat/openapi/diff'
import { Refusal } from 'create-concordat'
import { type Report, readDocument, readJson, readSource } from './documents.ts'

/** Stores a description and its digest in the folder of released ones, unless it breaks clients of the released one. Throws a {@link Refusal}. */
export async function releaseDescription(source: string, folder: string | undefined): Promise<Report> {
  if (folder === undefined) throw new Refusal('--out is missing. Use concordat release <file or address> --out released.')
  const document = await readDocument(source, readSource)
  const { info } = document as { readonly info?: { readonly version?: unknown } }
  const [, number] = /^([1-9]\d*)\./.exec(String(info?.version)) ?? []
  if (number === undefined) throw new Refusal(`${source} does not have a version such as 2.0.0 in info.version.`)
  const version = `v${number}`
  const file = join(folder, `${version}.json`)
  if (existsSync(file)) {
    const changes = breakingChanges(await readDocument(file), document)
    if (changes.length > 0) return { text: changesText(changes), isWrong: true }
  }
  mkdirSync(folder, { recursive: true })
  const digests = join(folder, digestsFile)
  const known = existsSync(digests) ? ((await readJson(digests)) as object) : {}
  const all = Object.entries({ ...known, [version]: descriptionDigest(document) }).toSorted(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(file, textOf(document))
  writeFileSync(digests, textOf(Object.fromEntries(all)))
  return { text: `${file} and ${digests} were written.`, isWrong: false }
}

const textOf = (value: object) => `${JSON.stringify(value, null, 1)}\n`
