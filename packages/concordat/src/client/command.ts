import { readFileSync, writeFileSync } from 'node:fs'
import { Refusal } from 'create-concordat'
import { readSource } from '../documents.ts'
import { clientFile } from './file.ts'
import { type Int64Form, int64Forms } from './int64-places.ts'

/** The flags of `concordat client`. */
export interface ClientFlags {
  readonly out?: string | undefined
  readonly check?: boolean | undefined
  readonly int64?: string | undefined
}

/** Writes the file of a client, or with `check` compares it. Returns what to print, and whether the file is out of date. Throws a {@link Refusal}. */
export async function writeClient(source: string, { out, check = false, int64 }: ClientFlags): Promise<{ text: string; isWrong: boolean }> {
  if (out === undefined) throw new Refusal('--out is missing. Use concordat client <file or address> --out src/shop.ts.')
  if (int64 !== undefined && !isForm(int64)) throw new Refusal(`--int64 ${int64} is invalid. Use ${int64Forms.join(' or ')}.`)
  const { text, warnings } = clientFile(await readSource(source), source, int64)
  const isWrong = check && contentOf(out) !== text
  if (!check) writeFileSync(out, text)
  const state = check
    ? `${out} is ${isWrong ? `out of date. Run: npx concordat client ${source} --out ${out}${int64 === undefined ? '' : ` --int64 ${int64}`}` : 'up to date.'}`
    : `${out} was written.`
  return { text: [...warnings.map((warning) => `warning: ${warning}`), state].join('\n'), isWrong }
}

const isForm = (text: string): text is Int64Form => (int64Forms as readonly string[]).includes(text)

function contentOf(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
