import { requirePeers } from '@concordat/plugin-kit/options'
import { digestOf, fingerprintOf, projectFolder } from './fingerprint.ts'

/** Where a service finds the database of a test. */
export interface DatabasePlace {
  /** The URL of the database on a server. Without a server, it is `undefined`. */
  readonly databaseUrl: string | undefined
  /** The folder of the database of PGlite. With a server, it is `memory://`. */
  readonly dataFolder: string
}

/** Makes the contents of a database, as `prepare` of `openDatabase` does. */
export type Prepare = (database: never) => Promise<void>

/** Extensions of PGlite, by name. */
export type Extensions = Readonly<Record<string, object>>

/** Creates a service on a database, which the service opens and closes. */
export type Start = (place: DatabasePlace) => Promise<{ ready(): PromiseLike<unknown>; close(): PromiseLike<unknown> }>

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
  /** Makes the contents of an empty database. */
  readonly make: (place: DatabasePlace) => Promise<void>
}

const states = new Map<string, string>()

/** Returns what decides whether a prepared database can be copied: the files of the project, the text of the function that makes it, and the caller's key. */
export function templateOf(
  by: { readonly prepare: Prepare; readonly extensions: Extensions | undefined } | { readonly start: Start },
  key: string
): Template {
  const folder = projectFolder()
  const state = states.get(folder) ?? fingerprintOf(folder)
  states.set(folder, state)
  const make = 'start' in by ? startOnce(by.start) : prepareOnce(by.prepare, by.extensions)
  return { folder, project: digestOf(folder), state, name: digestOf(key, String('start' in by ? by.start : by.prepare)), make }
}

// Opens a database as the service does, prepares it, and closes it.
function prepareOnce(prepare: Prepare, extensions: Extensions | undefined): Template['make'] {
  return async ({ databaseUrl, dataFolder }) => {
    requirePeers('testing: freshDatabase', ['@concordat/postgres'], import.meta)
    const { openDatabase } = await import('@concordat/postgres/open')
    // The root of this package has no types of optional peers: `prepare` accepts what `openDatabase` opens.
    const database = await openDatabase({
      url: databaseUrl,
      folder: dataFolder,
      extensions,
      prepare: prepare as (database: object) => Promise<void>
    })
    await database.close()
  }
}

function startOnce(start: Start): Template['make'] {
  return async (place) => {
    const app = await start(place)
    try {
      await app.ready()
    } finally {
      await app.close()
    }
  }
}
