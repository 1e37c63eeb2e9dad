import { readFileSync, writeFileSync } from 'node:fs'
import { Refusal } from 'create-concordat'
import { clientFile } from './file.ts'

/** The flags of `concordat client`. */
export interface ClientFlags {
  readonly out?: string | undefined
  readonly check?: boolean | undefined
}

// The description of a large service has a few megabytes.
const maxBytes = 64 * 1024 * 1024
const maxSeconds = 60

/** Writes the file of a client, or with `check` compares it. Returns what to print, and whether the file is out of date. Throws a {@link Refusal}. */
export async function writeClient(
  source: string,
  { out, check = false }: ClientFlags,
  read: (file: string) => Promise<unknown>
): Promise<{ text: string; isWrong: boolean }> {
  if (out === undefined) throw new Refusal('--out is missing. Use concordat client <file or address> --out src/shop.ts.')
  const { text, warnings } = clientFile(/^https?:/.test(source) ? await fetched(source) : await read(source), source)
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

async function fetched(address: string): Promise<unknown> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(maxSeconds * 1000), headers: { accept: 'application/json' } })
    if (!response.ok) throw new Error(`the response has the status ${response.status}.`)
    if (Number(response.headers.get('content-length') ?? 0) > maxBytes) throw new Error(`it has more than ${maxBytes} bytes.`)
    return await response.json()
  } catch (error) {
    throw new Refusal(`${address} cannot be read: ${(error as Error).message}`)
  }
}
