// Keeps docs/rules.md consistent with the test titles. The title of a test ends with the rules that the test proves, for example
// `… [K1] [K2]`. `node scripts/check-rules.ts` prints one line per problem.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { reportProblems } from './run.ts'
import { filesUnder } from './workspace.ts'

/** The result of the check: the problems, and the page with the correct last two columns. */
export interface RulesReport {
  readonly problems: readonly string[]
  readonly page: string
}

interface Rule {
  readonly id: string
  readonly kinds: string
  /** The manual parts of the last column: links to pages, and whether the rule is open, which nothing proves yet. */
  readonly pages: readonly string[]
  readonly isOpen: boolean
}

// The test harness has the tests that several packages run with their own stores.
const testFiles = '{{packages/*,examples/*,scripts}/test/**/*.test.ts,proofs/test-harness/src/*.ts}'
const proofPattern = /\.test\.ts\)$|\(\.\.\/proofs\/test-harness\//
const rowPattern = /^(\| ([A-Z]\d+) \|.*\| ([RLD](?: [RLD])*) \|) ?([^|]*?) ?\|(?: ?([^|]*?) ?\|)?$/
const exampleTests = 'examples/orders-service/'
const titlePattern = /\btest\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)(?!\s*,\s*\{[^}]*\b(?:skip|todo)\b)/g

/** Reads the list of rules and all test titles under `root`. */
export function checkRules(root: string): RulesReport {
  const problems: string[] = []
  const lines = readFileSync(join(root, 'docs/rules.md'), 'utf8').split('\n')
  const proofs = proofsOf(root)
  const known = new Set<string>()

  const page = lines.map((line) => {
    const [, front = '', id = '', kinds = '', column = '', example = ''] = rowPattern.exec(line) ?? []
    if (id === '') {
      if (/^\| [A-Z]\d+ \|/.test(line)) problems.push(`docs/rules.md: this row has no kind of proof (R, L, D): ${line}`)
      return line
    }
    if (known.has(id)) problems.push(`${id}: is listed twice in docs/rules.md.`)
    known.add(id)
    const tests = [...(proofs.get(id)?.keys() ?? [])].sort()
    const rule = readColumn(id, kinds, column)
    problems.push(...problemsOf(rule, tests, root))
    const right = columnOf(rule, tests)
    if (right !== column) problems.push(`${id}: the column "where" does not match the test titles. Run pnpm fix.`)
    const rightExample = exampleColumn(rule, tests, example)
    if (rightExample === undefined)
      problems.push(`${id}: no test of the example names this rule. Write one, or write "no: <reason>" in the column "in the example".`)
    else if (rightExample !== example) problems.push(`${id}: the column "in the example" does not match the test titles. Run pnpm fix.`)
    return [`${front} ${right}`.trimEnd(), `| ${rightExample ?? example}`.trimEnd(), '|'].join(' ')
  })

  for (const [id, titles] of proofs) {
    if (known.has(id)) continue
    for (const [file, title] of titles) problems.push(`${file}: the title "${title}" names ${id}, which docs/rules.md does not have.`)
  }
  return { problems, page: page.join('\n') }
}

/** Returns the page with the correct last two columns, by its path from the root. */
export function rulesPage(root: string): Map<string, string> {
  return new Map([['docs/rules.md', checkRules(root).page]])
}

// id → test file → one of its titles. A test file has those of the parts of the test harness that it imports, too.
function proofsOf(root: string) {
  const proofs = new Map<string, Map<string, string>>()
  for (const file of filesUnder(root, testFiles)) {
    const source = sourceOf(root, file)
    const shared = [...source.matchAll(/ from '@concordat\/test-harness\/([\w-]+)'/g)].map(
      ([, name]) => `proofs/test-harness/src/${name}.ts`
    )
    for (const text of [source, ...shared.map((one) => sourceOf(root, one))])
      for (const [, single, double, template] of text.matchAll(titlePattern)) {
        const title = single ?? double ?? template ?? ''
        for (const [, id = ''] of title.matchAll(/\[([A-Z]\d+)\]/g)) {
          if (!proofs.has(id)) proofs.set(id, new Map())
          proofs.get(id)?.set(file, title)
        }
      }
  }
  return proofs
}

function sourceOf(root: string, file: string) {
  const path = join(root, file)
  return existsSync(path) ? readFileSync(path, 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '') : ''
}

function readColumn(id: string, kinds: string, column: string): Rule {
  const parts = column === '' ? [] : column.split(' · ')
  return { id, kinds, pages: parts.filter((part) => part.startsWith('[') && !proofPattern.test(part)), isOpen: parts.includes('open') }
}

function problemsOf({ id, kinds, pages, isOpen }: Rule, tests: readonly string[], root: string) {
  const problems: string[] = []
  if (isOpen) return tests.length > 0 ? [`${id}: is open, but ${tests.join(', ')} proves it. Run pnpm fix.`] : []
  if (tests.length === 0 && /[RL]/.test(kinds))
    problems.push(
      `${id}: no test title ends with [${id}]. Name it in the title of the test that proves it, or write "open" in the column "where".`
    )
  if (kinds.includes('D') && pages.length === 0)
    problems.push(`${id}: must be proven by documentation (D). Link the page in the last column.`)
  for (const page of pages) {
    const target = /\(([^)#]*)/.exec(page)?.[1] ?? ''
    if (!existsSync(join(root, 'docs', target))) problems.push(`${id}: the page ${target} does not exist.`)
  }
  return problems
}

function columnOf({ pages, isOpen }: Rule, tests: readonly string[]) {
  return [...tests.map(linkTo), ...pages, ...(isOpen && tests.length === 0 ? ['open'] : [])].join(' · ')
}

/**
 * Returns whether the composed example proves a rule that is observed over HTTP: `yes`, or the reason why not. Undefined if there is neither. Other
 * rules have a dash.
 */
function exampleColumn({ kinds }: Rule, tests: readonly string[], given: string) {
  if (!kinds.includes('R')) return '–'
  if (tests.some((file) => file.startsWith(exampleTests))) return 'yes'
  return /^no: ./.test(given) ? given : undefined
}

function linkTo(file: string) {
  const name = file
    .replace(/^(?:packages|examples|proofs)\//, '')
    .replace(/(?:^|\/)(?:test|src)\//, '/')
    .replace(/(?:\.test)?\.ts$/, '')
  return `[${name}](../${file})`
}

if (import.meta.main) {
  reportProblems(checkRules(process.cwd()).problems)
}
