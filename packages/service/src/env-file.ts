import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { ConfigurationError, reasonOf } from './start-error.ts'

// The parser of Node.js ignores other lines, what follows a quoted value, and what follows a # in a value without quotes.
const ending = String.raw`[ \t]*(?:[ \t]#.*)?\r?(?:\n|$)`
const quoted = ['"', "'", '`'].map((mark) => `${mark}[^${mark}]*${mark}`).join('|')
const bare = '(?![\'"`])[^\\s#]+(?:[ \\t]+[^\\s#]+)*'
const line = new RegExp(
  String.raw`[ \t]*(?:#.*)?\r?(?:\n|$)|[ \t]*(?:export[ \t]+)?[^\s=#'"${'`'}]+[ \t]*=[ \t]*(?:${quoted}|${bare})?${ending}`,
  'y'
)

/**
 * Reads the file `.env` in a folder: nothing, if there is none. Throws an error of one line, without a value, for a file that is not UTF-8, and for a line that would be
 * read in part or not at all. A byte order mark, which editors on Windows write, belongs to no name.
 */
export function readEnvFile(folder: URL): Readonly<Record<string, string | undefined>> {
  const path = fileURLToPath(new URL('.env', folder))
  const text = textOf(path)
  for (line.lastIndex = 0; line.lastIndex < text.length; ) {
    const { lastIndex } = line
    if (line.test(text)) continue
    const number = text.slice(0, lastIndex).split('\n').length
    throw new ConfigurationError(
      `Line ${number} of ${path} is not NAME=value. Correct it, put a value with # or quotes in quotes, or begin a comment with #.`
    )
  }
  return parseEnv(text)
}

function textOf(path: string) {
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ConfigurationError(`${path} cannot be read: ${reasonOf(error)}. Make it a file that the service can read.`, { cause: error })
  }
  try {
    // Without the byte order mark.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // The same advice.
  }
  throw new ConfigurationError(`${path} is not UTF-8. Save it in this encoding.`)
}
