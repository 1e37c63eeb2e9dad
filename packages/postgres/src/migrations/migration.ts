/** One step in the schema of a store or of a service. A released step never changes: each later change is a new step. */
export interface Migration {
  /** The component that owns the tables, for example `refresh-tokens`. */
  readonly component: string
  /** The version number of the migration, counted from 1 in each component. */
  readonly version: number
  /** The SQL, one or more statements in each element. `{schema}` is replaced by the name of the schema. */
  readonly statements: readonly string[]
}

/** Returns the migrations of a component: the statements of version 1, of version 2 and so on. The statements of a released version never change. */
export function migrationsOf(component: string, ...versions: readonly (readonly string[])[]): Migration[] {
  return versions.map((statements, index) => ({ component, version: index + 1, statements }))
}
