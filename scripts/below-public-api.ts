// Finds what uses or changes more of Fastify and Node.js than their public API, which an upgrade may break (decision 143). Private names after a dot
// are found by the linter.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, parseSync, Visitor } from 'oxc-parser'
import type { Violation } from './imports-between-layers.ts'
import { filesUnder } from './workspace.ts'

/** What each file may use. Each entry has a row in docs/decisions/0143-what-is-left-below-the-public-api.md. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'packages/conventions/src/boot-checks.ts': ["Symbol.for('plugin-meta')", 'register ='],
  'packages/plugin-kit/src/server/server.ts': [
    "'_handle'",
    "'_readableState'",
    'close =',
    'closeIdleConnections =',
    "emit('close')",
    "emit('connection')",
    "emit('error')",
    'emit =',
    'end =',
    'listen =',
    'write =',
    'writeHead ='
  ]
}
const calls = new Set('getOwnPropertySymbols listeners printPlugins printRoutes rawListeners removeAllListeners'.split(' '))
const members = new Set(
  'addContentTypeParser addHook close closeAllConnections closeIdleConnections decorate emit end inject listen register requireHostHeader route write writeHead'.split(
    ' '
  )
)
const foreign = /^(?:fastify|nodejs|plugin)\b/
const events = new Set(['clientError', 'close', 'connection', 'error', 'request'])

/** Returns the uses below a root folder that are not allowed, and the allowed ones that no file has. */
export function privateUseViolations(root: string): Violation[] {
  const files = filesUnder(root, '{packages,examples}/*/src/**/*.ts')
  return files.flatMap((file) => {
    const may = allowed[file] ?? []
    const uses = privateUses(file, readFileSync(join(root, file), 'utf8'))
    const added = uses.filter(({ use }) => !may.includes(use))
    const gone = may.filter((use) => !uses.some((other) => other.use === use))
    return [
      ...added.map(({ use, line }) => ({
        where: `${file}:${line}`,
        rule: `is below the public API of Fastify and Node.js: ${use}`,
        fix: 'Use a documented interface, or allow it in scripts/below-public-api.ts, with a row in decision 143.'
      })),
      ...gone.map((use) => ({
        where: file,
        rule: `no longer has ${use}`,
        fix: 'Remove it from scripts/below-public-api.ts and decision 143.'
      }))
    ]
  })
}

function privateUses(file: string, source: string): { readonly use: string; readonly line: number }[] {
  const found: { use: string; line: number }[] = []
  const add = (use: string, { start }: Node) => found.push({ use, line: source.slice(0, start).split('\n').length })
  // Two texts that are compared are not read.
  const compared = new Set<Node>()
  const { program } = parseSync(file, source)
  new Visitor({
    BinaryExpression: ({ left, right }) => {
      if (left.type === 'CallExpression' && right.type === 'CallExpression') compared.add(left).add(right)
    },
    CallExpression: (node) => {
      const { callee, arguments: given } = node
      if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type === 'ThisExpression') return
      const { name } = callee.property
      const owner = callee.object.type === 'Identifier' ? callee.object.name : ''
      const [first, second] = given.map((one) => (one.type === 'Literal' && typeof one.value === 'string' ? one.value : ''))
      if (calls.has(name) && !compared.has(node)) add(`${name}()`, node)
      if (name === 'emit' && first && events.has(first)) add(`emit('${first}')`, node)
      if (owner === 'Symbol' && name === 'for' && first && foreign.test(first)) add(`Symbol.for('${first}')`, node)
      if (owner === 'Reflect' && second?.startsWith('_')) add(`'${second}'`, node)
    },
    AssignmentExpression: (node) => {
      const { left } = node
      if (left.type !== 'MemberExpression' || left.computed || left.object.type === 'ThisExpression') return
      if (members.has(left.property.name)) add(`${left.property.name} =`, node)
    }
  }).visit(program)
  return found
}
