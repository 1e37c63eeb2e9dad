import { callback, describeOptions, type OptionsOf, orFalse, value } from '@concordat/plugin-kit/options'
import type { EndOfTest } from './cleanups.ts'
import { emptyFolder, freshFolder } from './folder-template.ts'
import { freshServerDatabase } from './server-template.ts'
import { type DatabasePlace, type Extensions, type Prepare, type Start, templateOf } from './template.ts'

/** The description of {@link FreshDatabaseOptions}. @readme */
export const freshDatabaseOptions = describeOptions('testing', {
  /** The function that the service passes to `openDatabase`, or one that calls it and adds rows. Without it, the database is empty. */
  prepare: callback<Prepare>('prepares the database'),
  /** Creates the service, which is started once instead: the database also has what the first start creates, such as the tables of a queue. */
  start: callback<Start>('creates a service'),
  /** The extensions of PGlite that `prepare` creates, as `openDatabase` accepts them: `{ citext }`. */
  extensions: value<Extensions>(),
  /** A text for values that `prepare` or `start` uses and that are in no file, such as a number of rows. Each text has its own prepared database. */
  key: value<string>({ default: '' }),
  /** The URL of a PostgreSQL server, whose role may create databases; `false` uses PGlite. By default `TEST_DATABASE_URL`, otherwise PGlite. */
  serverUrl: orFalse(value<string>())
})

/** Options of {@link freshDatabase}. */
export interface FreshDatabaseOptions extends OptionsOf<typeof freshDatabaseOptions> {}

/**
 * Returns the place of a database of its own for a test: a copy of what `prepare` or `start` makes, on the PostgreSQL of `TEST_DATABASE_URL`, otherwise PGlite in
 * a folder. The first call of a project prepares a template; all others copy it, in this and in other processes. The copy is removed at the end of the
 * test, after the service that {@link testClient} closes; the template when a file of the project has changed.
 *
 * @example
 * const start = (place: DatabasePlace) => buildApp({ ...testSettings, ...place })
 * const app = await start(await freshDatabase(t, { start }))
 */
export async function freshDatabase(t: EndOfTest, options: FreshDatabaseOptions = {}): Promise<DatabasePlace> {
  const { prepare, start, extensions, key, serverUrl = process.env['TEST_DATABASE_URL'] || false } = freshDatabaseOptions.read(options)
  if (prepare !== undefined && start !== undefined)
    throw new TypeError(
      'testing: options.prepare and options.start are both set. Remove prepare: the service prepares its database when it starts.'
    )
  if (extensions !== undefined && prepare === undefined)
    throw new TypeError('testing: options.extensions has no effect without prepare. Pass the extensions to openDatabase only.')
  const by = start === undefined ? prepare && { prepare, extensions } : { start }
  const template = by && templateOf(by, key)
  if (serverUrl !== false) return { databaseUrl: await freshServerDatabase(t, serverUrl, template), dataFolder: 'memory://' }
  return { databaseUrl: undefined, dataFolder: template === undefined ? emptyFolder(t) : await freshFolder(t, template) }
}
