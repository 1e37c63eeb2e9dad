/** What a statement that begins or ends a transaction does to a transaction that stays open. */
export type Control = 'begin' | 'commit' | 'rollback'

// White space, empty statements and comments before the first word. A comment that contains another is not matched.
const beforeFirstWord = /^(?:[\s;]|--[^\r\n]*|\/\*(?:(?!\/\*)[^])*?\*\/)*/
const isControl = /^(?:begin|start|commit|end|rollback|abort|prepare)\b/i
const plain = /^(?:(?<begin>begin|start)|(?<commit>commit|end)|rollback|abort)(?:\s+(?:work|transaction))?\s*;?\s*$/i
const toSavepoint = /^rollback(?:\s+(?:work|transaction))?\s+to\s/i

/**
 * Returns what a single statement does to a transaction, or undefined if it neither begins nor ends one. Throws a `TypeError` for a form without a
 * counterpart within a transaction, for example `BEGIN ISOLATION LEVEL SERIALIZABLE`, `COMMIT AND CHAIN` or `PREPARE TRANSACTION`.
 */
export function controlIn(text: string): Control | undefined {
  const statement = text.replace(beforeFirstWord, '')
  if (statement.startsWith('/*')) throw new TypeError('postgres: the statement begins with a comment within a comment. Remove one of them.')
  if (!isControl.test(statement) || toSavepoint.test(statement)) return undefined
  const { groups } = plain.exec(statement) ?? {}
  if (groups !== undefined) return groups['begin'] ? 'begin' : groups['commit'] ? 'commit' : 'rollback'
  throw new TypeError(
    `postgres: "${statement}" cannot run in the transaction of a request. Set isolation and readOnly in config.transaction of the route.`
  )
}
