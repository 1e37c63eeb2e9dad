import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type * as Open from '@concordat/postgres/open'
import type { OpenDatabase } from '@concordat/postgres/open'
import { Refusal } from 'create-concordat'

/** Opens the database of `DATABASE_URL` or `DATA_DIR`. `what` says what the service does there. Throws a `Refusal` without one. */
export async function projectDatabase(
  what: string,
  { DATABASE_URL: url, DATA_DIR: folder }: NodeJS.ProcessEnv,
  tenantSetting?: string
): Promise<OpenDatabase> {
  if (url === undefined && folder === undefined) throw new Refusal(`Set DATABASE_URL, or DATA_DIR for PGlite, to the database ${what}.`)
  const { openDatabase } = await projectModule<typeof Open>('open')
  return openDatabase({ url, folder, ...(tenantSetting !== undefined && { tenantSetting }) })
}

/** Returns a module of `@concordat/postgres`, resolved from the working directory, because the store belongs to the service there. */
export async function projectModule<Module>(name: string): Promise<Module> {
  try {
    return (await import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve(`@concordat/postgres/${name}`)).href)) as Module
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    throw new Refusal('@concordat/postgres is not installed here. Run the command in the folder of the service.')
  }
}

/** Returns why a database failed, as a sentence. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return `${(cause instanceof Error ? cause.message : message).replace(/\.$/, '')}.`
}
