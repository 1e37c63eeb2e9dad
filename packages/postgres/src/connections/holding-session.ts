import type { Session } from './session.ts'

/** A session that can hold a statement back. */
export interface HoldingSession extends Session {
  /**
   * Holds a statement without values back, to be sent with COMMIT in one message, or before the next operation. When it fails, nothing is committed.
   * Several are sent in their order.
   */
  hold(statement: string): void
}

/** Lets a session hold statements back. */
export function holding(session: Session): HoldingSession {
  let held: string[] = []

  function take() {
    const statements = held
    held = []
    return statements
  }

  async function afterHeld<Result>(operation: () => Promise<Result>) {
    const statements = take()
    if (statements.length > 0) await session.send(statements)
    return operation()
  }

  return {
    hold(statement) {
      held.push(statement)
    },
    query: (text, values) => afterHeld(() => session.query(text, values)),
    execute: (statement) => afterHeld(() => session.execute(statement)),
    send: (statements) => afterHeld(() => session.send(statements)),
    commit: () => session.commit(take()),
    rollback: () => session.rollback()
  }
}
