import { randomUUID } from 'node:crypto'
import { constants, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEndOf, type EndOfTest } from './cleanups.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { Template } from './template.ts'

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
  // Under the lock the copy is whole: a run with other files removes the template.
  await oneAtATime(cache, async () => {
    await make(cache, prepared, template)
    cpSync(prepared, folder, { recursive: true, mode: constants.COPYFILE_FICLONE })
  })
  return folder
}

async function make(cache: string, prepared: string, template: Template) {
  if (existsSync(prepared)) return
  const { state } = template
  mkdirSync(join(cache, state), { recursive: true })
  for (const other of readdirSync(cache)) if (other !== state) remove(join(cache, other))
  // Under its name, a template is complete. What a killed process has left is removed with its state.
  const unfinished = mkdtempSync(`${prepared}-`)
  try {
    await template.make({ databaseUrl: undefined, dataFolder: unfinished })
    renameSync(unfinished, prepared)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

// Under another name first: a process that is killed meanwhile leaves no template that is not complete.
function remove(folder: string) {
  const removed = `${folder}-${randomUUID()}`
  renameSync(folder, removed)
  rmSync(removed, { recursive: true, force: true })
}
