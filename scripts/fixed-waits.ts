// Finds tests that wait for a fixed time, which is too short on a busy machine and too long on all others.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, parseSync, Visitor } from 'oxc-parser'
import type { Violation } from './imports-between-layers.ts'
import { filesUnder } from './workspace.ts'

/** The files that may wait for a fixed time, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'packages/idempotency/src/testing/store-contract/care-cases.ts': 'No method of a store says that its callers wait.',
  'packages/rate-limiting/src/testing/store-contract.ts': 'A store counts by its own clock.'
}
const tests = '{{packages,examples}/*/{test,src/testing},scripts/test,proofs/test-harness/src}/**/*.ts'
const timers = /^(?:node:)?timers\/promises$/
const waitNames = ['delay', 'pause', 'sleep', 'wait']

/** Returns the fixed waits of the tests below a root folder, and the exceptions that nothing needs. */
export function waitViolations(root: string): Violation[] {
  return filesUnder(root, tests).flatMap((file) => {
    const lines = fixedWaits(file, readFileSync(join(root, file), 'utf8'))
    if (file in exceptions) {
      const fix = 'Remove its exception from scripts/fixed-waits.ts.'
      return lines.length > 0 ? [] : [{ where: file, rule: 'does not wait for a fixed time', fix }]
    }
    return lines.map((line) => ({
      where: `${file}:${line}`,
      rule: 'waits for a fixed time',
      fix: 'Wait for the condition, for example with until() of the test harness.'
    }))
  })
}

/**
 * Returns the lines on which a file waits for a number of milliseconds that it states as a literal. A wait inside a loop with a condition
 * is the interval of its checks, and a promise with more than a timer is a deadline.
 */
function fixedWaits(file: string, source: string): number[] {
  const { program } = parseSync(file, source)
  const names = new Set(waitNames)
  const lines: number[] = []
  // For each function that contains the node: how many of its loops contain the node.
  const loops = [0]
  const enterLoop = (by: number) => () => void (loops[loops.length - 1] = (loops.at(-1) ?? 0) + by)
  const add = ({ start }: Node) => loops.at(-1) === 0 && lines.push(source.slice(0, start).split('\n').length)
  new Visitor({
    ...Object.fromEntries([
      ...within(
        ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'],
        () => void loops.push(0),
        () => void loops.pop()
      ),
      ...within(['WhileStatement', 'DoWhileStatement', 'ForStatement'], enterLoop(1), enterLoop(-1))
    ]),
    ImportDeclaration: ({ source: from, specifiers }) => {
      if (!timers.test(from.value)) return
      for (const one of specifiers)
        if (one.type === 'ImportSpecifier' && 'name' in one.imported && one.imported.name === 'setTimeout') names.add(one.local.name)
    },
    CallExpression: (node) => {
      const [first] = node.arguments
      if (node.callee.type === 'Identifier' && names.has(node.callee.name) && first !== undefined && isFixed(first)) add(node)
    },
    NewExpression: (node) => {
      const [executor] = node.arguments
      if (node.callee.type === 'Identifier' && node.callee.name === 'Promise' && executor !== undefined && isTimer(executor)) add(node)
    }
  }).visit(program)
  return lines
}

/** Returns the handlers of a visitor that run when it enters and leaves nodes. */
function within(types: readonly string[], enter: () => void, leave: () => void) {
  return types.flatMap((type) => Object.entries({ [type]: enter, [`${type}:exit`]: leave }))
}

/** Whether a function only starts a timer with a fixed time. */
function isTimer(executor: Node): boolean {
  if (executor.type !== 'ArrowFunctionExpression') return false
  const [only, second] = executor.body.type === 'BlockStatement' ? executor.body.body : [executor.body]
  const call = only?.type === 'ExpressionStatement' ? only.expression : only
  if (second !== undefined || call?.type !== 'CallExpression' || call.callee.type !== 'Identifier') return false
  const [, time] = call.arguments
  return call.callee.name === 'setTimeout' && time !== undefined && isFixed(time)
}

function isFixed(node: Node): boolean {
  if (node.type === 'BinaryExpression') return isFixed(node.left) && isFixed(node.right)
  return node.type === 'Literal' && typeof node.value === 'number'
}
