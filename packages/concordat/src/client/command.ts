import { readFileSync, writeFileSync } from 'node:fs'
import { Refusal } from 'create-concordat'
import { readSource } from '../documents.ts'
import { clientFile } from './file.ts'

/** The flags of `concordat client`. */
export interface ClientFlags {
  readonly out?: string | undefined
  readonly check?: boolean | undefined
}

/** Writes the file of a client, or with `check` compares it. Returns what to print, and whether the file is out of date. Throws a {@link Refusal}. */
export async function writeClient(source: string, { out, check = false }: ClientFlags): Promise<{ text: string; isWrong: boolean }> {
  if (out === undefined) throw new Refusal('--out is missing. Use concordat client <file or address> --out src/shop.ts.')
  const { text, warnings } = clientFile(await readSource(source), source)
  const isWrong = check && contentOf(out) !== text
  if (!check) writeFileSync(out, text)
  const state = check
    ? `${out} is ${isWrong ? `out of date. Run: npx concordat client ${source} --out ${out}` : 'up to date.'}`
    : `${out} was written.`
  return { text: [...warnings.map((warning) => `warning: ${warning}`), state].join('\n'), isWrong }
}

function contentOf(file: string) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
