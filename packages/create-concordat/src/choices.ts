/** What can be left out of a project. */
export const features = ['auth', 'jobs', 'webhooks', 'batch', 'audit', 'redis', 'metrics'] as const

/** What a project is made of. */
export interface Choices {
  readonly database: 'pglite' | 'postgres'
  /** `typebox` is `@sinclair/typebox` 0.34, `typebox-1` the package `typebox`. */
  readonly schema: 'typebox' | 'typebox-1' | 'zod'
  readonly tests: 'node' | 'tap'
  readonly with: readonly (typeof features)[number][]
}

/** The choices of `--yes`, and of an empty answer. */
export const defaults: Choices = { database: 'pglite', schema: 'typebox', tests: 'node', with: [] }

/** The values of the choices with one value. */
export const alternatives = { database: ['pglite', 'postgres'], schema: ['typebox', 'typebox-1', 'zod'], tests: ['node', 'tap'] } as const

/** Returns the values of a choice as a text: `typebox, typebox-1, or zod`. */
export function valuesOf(name: keyof typeof alternatives): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(alternatives[name])
}

// Jobs and subscriptions belong to a user, and an audit trail says who did what.
const ofUsers: readonly string[] = ['jobs', 'webhooks', 'audit']

/** Adds what the choices require: users for what belongs to one. */
export function complete(choices: Choices): Choices {
  const needsAuth = choices.with.some((feature) => ofUsers.includes(feature))
  return needsAuth && !choices.with.includes('auth') ? { ...choices, with: ['auth', ...choices.with] } : choices
}

/** Returns the names that the marks of templates are compared with. */
export function chosenNames({ database, schema, tests, with: chosen }: Choices): ReadonlySet<string> {
  return new Set([database, schema, tests, ...chosen])
}
