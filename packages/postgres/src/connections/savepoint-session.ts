import { isIgnored } from './failure.ts'
import type { MessageStatement } from './message.ts'
import { IgnoredFailure, type Opened, type Session } from './session.ts'

const begin = { text: 'SAVEPOINT concordat_inner' }
const release = { text: 'RELEASE SAVEPOINT concordat_inner' }
const undo = [{ text: 'ROLLBACK TO SAVEPOINT concordat_inner' }, release]

/** Opens a transaction within another, whose operations `run` runs. It must end before any other operation runs there. */
export function openWithin(
  run: (work: (session: Session) => Promise<void>) => Promise<void>,
  statements: readonly MessageStatement[]
): Promise<Opened> {
  const ended = Promise.withResolvers<void>()
  return new Promise((resolve, reject) => {
    run(async (session) => {
      resolve(await openSavepoint(session, statements, ended.resolve))
      await ended.promise
    }).catch(reject)
  })
}

/** Opens a transaction within another. It can be rolled back on its own, and is committed with the outer one. */
async function openSavepoint(outer: Session, statements: readonly MessageStatement[], ended: () => void): Promise<Opened> {
  const session = sessionIn(outer, ended)
  try {
    const results = await outer.send([begin, ...statements])
    return { session, results: results.slice(1) }
  } catch (error) {
    await session.rollback()
    throw error
  }
}

function sessionIn(outer: Session, ended: () => void): Session {
  let over = false

  async function end(statement: () => Promise<unknown>) {
    over = true
    try {
      await statement()
    } finally {
      ended()
    }
  }

  return {
    query: (text, values) => outer.query(text, values),
    execute: (statement) => outer.execute(statement),
    send: (statements) => outer.send(statements),
    commit: (last = []) =>
      end(async () => {
        try {
          await outer.send([...last, release])
        } catch (error) {
          await outer.send(undo)
          throw isIgnored(error) ? new IgnoredFailure() : error
        }
      }),
    rollback: async () => {
      if (!over) await end(() => outer.send(undo)).catch(() => {})
    }
  }
}
