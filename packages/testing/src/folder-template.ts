import { randomUUID } from 'node:crypto'
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEndOf, type EndOfTest } from './cleanups.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { prepareDatabase, type Template } from './template.ts'

/** Returns an empty folder that is removed at the end of the test. */
export function emptyFolder(t: EndOfTest): string {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-test-'))
  atEndOf(t, () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Returns a folder with a copy of a template, which is made when it does not exist. */
export async function freshFolder(t: EndOfTest, template: Template): Promise<string> {
  const folder = join(emptyFolder(t), 'database')
  const cache = join(template.folder, 'node_modules/.cache/concordat-testing')
  const prepared = join(cache, template.state, template.name)
  while (!copied(prepared, folder)) await oneAtATime(cache, () => make(cache, prepared, template))
  return folder
}

// Returns false when the template does not exist, or when a run with other files removes it meanwhile.
function copied(prepared: string, folder: string) {
  if (!existsSync(prepared)) return false
  try {
    cpSync(prepared, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  if (existsSync(prepared)) return true
  rmSync(folder, { recursive: true, force: true })
  return false
}

async function make(cache: string, prepared: string, { state, prepare }: Template) {
  if (existsSync(prepared)) return
  mkdirSync(join(cache, state), { recursive: true })
  for (const other of readdirSync(cache)) if (other !== state) remove(join(cache, other))
  // Under its name, a template is complete. What a killed process has left is removed with its state.
  const unfinished = mkdtempSync(`${prepared}-`)
  try {
    await prepareDatabase({ folder: unfinished }, prepare)
    renameSync(unfinished, prepared)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

// A copy that another process makes meanwhile finds out that its source is gone. Another process may remove the same.
function remove(folder: string) {
  const removed = `${folder}-${randomUUID()}`
  try {
    renameSync(folder, removed)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  rmSync(removed, { recursive: true, force: true })
}
