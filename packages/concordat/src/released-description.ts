import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { breakingChanges, changesText, descriptionDigest, digestsFile, type OpenapiDocument } from '@concordat/openapi/diff'
import { Refusal } from 'create-concordat'
import { type Report, readJson, readSource } from './documents.ts'

/** Stores a description and its digest in the folder of released ones, unless it breaks clients of the released one. Throws a {@link Refusal}. */
export async function releaseDescription(source: string, folder: string | undefined): Promise<Report> {
  if (folder === undefined) throw new Refusal('--out is missing. Use concordat release <file or address> --out released.')
  const document = (await readSource(source)) as OpenapiDocument | null
  const [, number] = /^([1-9]\d*)\./.exec(document?.info?.version ?? '') ?? []
  if (document === null || !/^3\.1\./.test(document.openapi) || number === undefined)
    throw new Refusal(`${source} is not an OpenAPI 3.1 document of a version such as 2.0.0.`)
  const version = `v${number}`
  const file = join(folder, `${version}.json`)
  if (existsSync(file)) {
    const changes = breakingChanges((await readJson(file)) as OpenapiDocument, document)
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
