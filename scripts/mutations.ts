// Mutations: small changes of a source that a test must notice. Imports and exports, types, names of properties and the wording of
// messages are excluded: the texts given to `new …Error()`, `refuse()` and `Symbol()`, and the properties in
// `wordingNames`. Operators: the swaps below; `condition` negates the condition of an `if`, a `?:`, a loop or a `case`; `negation` replaces `!x` with `x`;
// `number` adds one; `boolean` and `text` replace a constant; `list` empties a list; `return` returns undefined; `statement` removes a call or an
// assignment; `default` removes a default; `optional` replaces `a?.b` with `a.b`; `anchor` removes `^` or `$` from a regular expression.
import { createHash } from 'node:crypto'
import { type Node, parseSync, visitorKeys } from 'oxc-parser'

export interface Mutant {
  readonly file: string
  readonly line: number
  readonly operator: string
  /** The file and the changed lines before and after. The name stays the same as long as these lines do not change. */
  readonly name: string
  /** The whole file with the change. */
  readonly source: string
}

const swaps: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  boundary: { '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  equality: { '===': '!==', '!==': '===', '==': '!=', '!=': '==' },
  logic: { '&&': '||', '||': '&&' },
  arithmetic: { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '+=': '-=', '-=': '+=' },
  method: Object.fromEntries(
    'some every,find findLast,push unshift,startsWith endsWith,toLowerCase toUpperCase,min max,floor ceil'.split(',').flatMap((pair) => {
      const [one = '', other = ''] = pair.split(' ')
      return Object.entries({ [one]: other, [other]: one })
    })
  )
}

type Edit = readonly [operator: string, start: number, end: number, text: string]

const wordingNames = new Set(['message', 'remedy', 'en', 'es', 'description', 'summary'])
const removable = new Set(['CallExpression', 'AwaitExpression', 'AssignmentExpression', 'UpdateExpression'])

/** Returns every mutant of a file. A number distinguishes mutants with the same name. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors[0]) throw new SyntaxError(`${file}: ${errors[0].message}`)
  const names = new Map<string, number>()
  return [...runtimeNodes(program)].flatMap((node) =>
    [...editsOf(node, source)].map(([operator, start, end, text]): Mutant => {
      const lineStart = source.lastIndexOf('\n', start - 1) + 1
      const lineEnd = `${source}\n`.indexOf('\n', end)
      const lines = (changed: string) => source.slice(lineStart, start) + shortened(changed) + source.slice(end, lineEnd)
      const [before, after] = [oneLine(lines(source.slice(start, end))), oneLine(lines(text))]
      const name = `${file}: ${before} → ${after}`
      const count = (names.get(name) ?? 0) + 1
      names.set(name, count)
      return {
        file,
        operator,
        name: count === 1 ? name : `${name} (${count})`,
        line: source.slice(0, start).split('\n').length,
        source: source.slice(0, start) + text + source.slice(end)
      }
    })
  )
}

/**
 * Draws mutants, each with the same probability. They are ordered by a hash of the seed and their name, so the same sources give
 * the same mutants, and a change of one line does not affect the others. Mutants that do not parse are skipped.
 */
export function draw(mutants: readonly Mutant[], seed: number, count: number): Mutant[] {
  const hashed = mutants.map((mutant) => [createHash('sha256').update(`${seed} ${mutant.name}`).digest('hex'), mutant] as const)
  const drawn: Mutant[] = []
  for (const [, mutant] of hashed.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (drawn.length === count) break
    if (parseSync(mutant.file, mutant.source).errors.length === 0) drawn.push(mutant)
  }
  return drawn
}

function* editsOf(node: Node, source: string): Generator<Edit> {
  const code = source.slice(node.start, node.end)
  if ('operator' in node && 'left' in node) {
    const start = source.indexOf(node.operator, node.left.end)
    for (const [name, replacement] of swapsOf(node.operator)) yield [name, start, start + node.operator.length, replacement]
  }
  if ('test' in node && node.test && !isNegation(node.test)) {
    yield ['condition', ...whole(node.test, `!(${source.slice(node.test.start, node.test.end)})`)]
  }
  if (node.type === 'UnaryExpression' && node.operator === '!') yield ['negation', node.start, node.argument.start, '']
  if (node.type === 'Literal') {
    if (typeof node.value === 'number') yield ['number', ...whole(node, String(node.value + 1))]
    if (typeof node.value === 'boolean') yield ['boolean', ...whole(node, String(!node.value))]
    if (typeof node.value === 'string') yield ['text', ...whole(node, node.value === '' ? "'mutant'" : "''")]
    const anchors = 'regex' in node ? code.matchAll(/(?<=^\/)\^|(?<!\\)\$(?=\/\w*$)/g) : []
    for (const { index } of anchors) yield ['anchor', node.start + index, node.start + index + 1, '']
  }
  if (node.type === 'TemplateLiteral') yield ['text', ...whole(node, '``')]
  if (node.type === 'ArrayExpression' && node.elements.length > 0) yield ['list', ...whole(node, '[]')]
  const value = node.type === 'ReturnStatement' ? node.argument : node.type === 'ArrowFunctionExpression' && node.expression && node.body
  if (value && source.slice(value.start, value.end) !== 'undefined') yield ['return', ...whole(value, 'undefined')]
  if (node.type === 'ExpressionStatement' && removable.has(node.expression.type)) yield ['statement', ...whole(node, ';')]
  if ((node.type === 'LogicalExpression' && node.operator === '??') || node.type === 'AssignmentPattern') {
    yield ['default', node.left.end, node.end, '']
  }
  if (node.type === 'MemberExpression' || node.type === 'CallExpression') {
    const start = node.optional ? source.indexOf('?.', 'object' in node ? node.object.end : node.callee.end) : -1
    if (start >= 0) yield ['optional', start, start + 2, 'object' in node && !node.computed ? '.' : '']
  }
  if (node.type === 'MemberExpression' && node.property.type === 'Identifier') {
    for (const [name, replacement] of swapsOf(node.property.name)) yield [name, ...whole(node.property, replacement)]
  }
}

/** The nodes that exist at run time, without those that the comment at the top of this file excludes. */
function* runtimeNodes(node: Node): Generator<Node> {
  yield node
  for (const key of visitorKeys[node.type] ?? []) {
    for (const child of [(node as unknown as Record<string, Node | null | (Node | null)[]>)[key]].flat()) {
      if (child && !isLeftOut(node, key, child)) yield* runtimeNodes(child)
    }
  }
}

function isLeftOut(parent: Node, key: string, child: Node) {
  if (/^(Import|ExportAll|TS(?!As|Satisfies|NonNull))/.test(child.type)) return true
  if (key === 'source' || ('directive' in parent && parent.directive)) return true
  if (child.type !== 'Literal' && child.type !== 'TemplateLiteral') return false
  if (key === 'key') return true
  if (parent.type === 'Property') return parent.key.type === 'Identifier' && wordingNames.has(parent.key.name)
  if (key !== 'arguments' || !('callee' in parent)) return false
  return parent.callee.type === 'Identifier' && /(Error|^refuse|^Symbol)$/.test(parent.callee.name)
}

function swapsOf(word: string) {
  return Object.entries(swaps).flatMap(([name, pairs]) => (Object.hasOwn(pairs, word) ? [[name, pairs[word] as string] as const] : []))
}

function whole({ start, end }: Node, text: string) {
  return [start, end, text] as const
}

/** Whether other operators already negate this condition. */
function isNegation(test: Node) {
  return (test.type === 'UnaryExpression' && test.operator === '!') || (test.type === 'BinaryExpression' && /==/.test(test.operator))
}

function oneLine(text: string) {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** Removes the middle of a long text. */
function shortened(text: string) {
  return text.length > 200 ? `${text.slice(0, 120)} … ${text.slice(-77)}` : text
}
