import { handlerContexts } from '../connections/handler-context.ts'
import type { MessageStatement } from '../connections/message.ts'
import type { Postgres } from '../connections/postgres.ts'
import type { Opened } from '../connections/session.ts'
import type { UnitSettings } from './options.ts'

const idleGraceMs = 5000

/** What the statements of a unit are a part of. */
export interface Surroundings<Outer> {
  readonly database: Postgres
  readonly route: object | undefined
  readonly tenant: string | undefined
  /** The session of the handler that injected this request. Both share a transaction. */
  readonly outer: Outer | undefined
  /** Called when the transaction has been open for too long. */
  readonly onTimeout: () => void
}

/** Begins a transaction outside the context of the handler, in which no other query is allowed while this transaction is open. */
export function openIn(
  { database, route, tenant }: Surroundings<unknown>,
  { isolation, readOnly, timeoutMs }: UnitSettings,
  statements: readonly MessageStatement[]
): Promise<Opened> {
  const open = () => database.open({ isolation, readOnly, idleMs: timeoutMs + idleGraceMs, statements, route, tenant })
  return handlerContexts.getStore() === undefined ? open() : handlerContexts.run(undefined, open)
}
