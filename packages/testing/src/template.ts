import { importPeers } from '@concordat/plugin-options'
import { digestOf, fingerprintOf, projectFolder } from './fingerprint.ts'

/** Makes the contents of a database, as `prepare` of `openDatabase` does. */
export type Prepare = (database: never) => Promise<void>

/** A prepared database that tests copy. Templates of one project and one state of its files stay; those of other states are removed. */
export interface Template {
  /** The folder of the project. */
  readonly folder: string
  /** A digest of the folder, to tell the templates of projects on one server apart. */
  readonly project: string
  /** The state of the files that make the database. */
  readonly state: string
  /** What the database was prepared with, in this state. */
  readonly name: string
  readonly prepare: Prepare
}

const states = new Map<string, string>()

/** Returns what decides whether a prepared database can be copied: the files of the project, the text of `prepare`, and the caller's key. */
export function templateOf(prepare: Prepare, key: string): Template {
  const folder = projectFolder()
  const state = states.get(folder) ?? fingerprintOf(folder)
  states.set(folder, state)
  return { folder, project: digestOf(folder), state, name: digestOf(key, String(prepare)), prepare }
}

/** Opens a database as the service does, prepares it, and closes it. */
export async function prepareDatabase(place: { readonly url: string } | { readonly folder: string }, prepare: Prepare): Promise<void> {
  const { openDatabase } = await importPeers(
    'testing: freshDatabase',
    '--save-dev @concordat/postgres',
    () => import('@concordat/postgres/open')
  )
  // The root of this package has no types of optional peers: `prepare` accepts what `openDatabase` opens.
  const database = await openDatabase({ ...place, prepare: prepare as (database: object) => Promise<void> })
  await database.close()
}
