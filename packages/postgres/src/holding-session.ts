import type { Session } from './session.ts'

/** A session that can hold a statement back. */
export interface HoldingSession extends Session {
  /** Holds a statement without values back, to be sent with COMMIT in one message, or before the next operation. When it fails, nothing is committed. */
  hold(statement: string): void
}

/** Lets a session hold one statement back. */
export function holding(session: Session): HoldingSession {
  let held: string | undefined

  function take() {
    const statement = held
    held = undefined
    return statement
  }

  async function afterHeld<Result>(operation: () => Promise<Result>) {
    const statement = take()
    if (statement !== undefined) await session.send([statement])
    return operation()
  }

  return {
    hold(statement) {
      held = statement
    },
    query: (text, values) => afterHeld(() => session.query(text, values)),
    execute: (statement) => afterHeld(() => session.execute(statement)),
    send: (statements) => afterHeld(() => session.send(statements)),
    commit: () => session.commit(take()),
    rollback: () => session.rollback()
  }
}
