import { isIgnored } from './failure.ts'
import { IgnoredFailure, type Opened, type Session } from './session.ts'

const name = 'concordat_inner'

/** Opens a transaction within another. It can be rolled back on its own, and is committed with the outer one. */
export async function openSavepoint(outer: Session, statements: readonly string[], release: () => void): Promise<Opened> {
  const session = sessionIn(outer, release)
  try {
    const results = await outer.send([`SAVEPOINT ${name}`, ...statements])
    return { session, results: results.slice(1) }
  } catch (error) {
    await session.rollback()
    throw error
  }
}

function sessionIn(outer: Session, release: () => void): Session {
  let over = false
  const undo = () => outer.send([`ROLLBACK TO SAVEPOINT ${name}`, `RELEASE SAVEPOINT ${name}`])

  async function end(statement: () => Promise<unknown>) {
    over = true
    try {
      await statement()
    } finally {
      release()
    }
  }

  return {
    query: (text, values) => outer.query(text, values),
    execute: (statement) => outer.execute(statement),
    send: (statements) => outer.send(statements),
    commit: (last = []) =>
      end(async () => {
        try {
          await outer.send([...last, `RELEASE SAVEPOINT ${name}`])
        } catch (error) {
          await undo()
          throw isIgnored(error) ? new IgnoredFailure() : error
        }
      }),
    rollback: async () => {
      if (!over) await end(undo).catch(() => {})
    }
  }
}
