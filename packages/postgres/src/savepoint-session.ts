import { isRefusal } from './failure.ts'
import { IgnoredFailure, type Opened, type Session } from './session.ts'

const name = 'concordat_inner'

/** A transaction within another: what it does is kept or returned by itself, and committed with the outer one. */
export async function openSavepoint(outer: Session, statements: readonly string[], release: () => void): Promise<Opened> {
  const session = sessionIn(outer, release)
  try {
    const answers = await outer.send([`SAVEPOINT ${name}`, ...statements])
    return { session, answers: answers.slice(1) }
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
    send: (statements) => outer.send(statements),
    commit: () =>
      end(async () => {
        try {
          await outer.send([`RELEASE SAVEPOINT ${name}`])
        } catch (error) {
          await undo()
          // In a transaction with a failed statement nothing else is refused.
          throw isRefusal(error) ? new IgnoredFailure() : error
        }
      }),
    rollback: async () => {
      if (!over) await end(undo).catch(() => {})
    }
  }
}
