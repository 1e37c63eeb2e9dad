import { type DatabasePlace, freshDatabase as databaseOf, type EndOfTest } from '@concordat/testing'

export { freshFolder, freshPlace as freshDatabase } from '../service.ts'

/** The PostgreSQL of the run. When it is undefined, tests use PGlite. */
export const server: string | undefined = process.env['TEST_DATABASE_URL']

/** Returns the place of a separate, empty database for a test, on this server. */
export function emptyDatabase(t: EndOfTest, serverUrl?: string): Promise<DatabasePlace> {
  return databaseOf(t, { serverUrl })
}

/** Returns the same on PGlite. */
export function emptyFolder(t: EndOfTest): Promise<DatabasePlace> {
  return databaseOf(t, { serverUrl: false })
}

/** Returns the variables that start a service on a database. */
export function environmentOf({ databaseUrl, dataFolder }: DatabasePlace): Record<string, string> {
  return databaseUrl === undefined ? { DATA_DIR: dataFolder } : { DATABASE_URL: databaseUrl }
}

/** Returns the place of a database on a server. */
export function placeOf(databaseUrl: string): DatabasePlace {
  return { databaseUrl, dataFolder: 'memory://' }
}
