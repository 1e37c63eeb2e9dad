import t, { type Test } from 'tap'
import { checkRules } from '../check-rules.ts'

const head = '| id | rule | package | proof | where | in the example |\n| --- | --- | --- | --- | --- | --- |\n'

// The call is composed, so that these titles do not count as titles of this file.
const call = 't.test'
const titled = (title: string, options = '') => `${call}('${title}'${options}, async (t) => {})\n`
const docsWith = (rows: readonly string[]) => ({ 'rules.md': `# Rules\n\n${head}${rows.join('\n')}\n`, 'guide.md': '# Guide\n' })
// Rules whose column about the example has a reason, or a dash if the rule is not observed over HTTP.
const inDocs = (...rows: string[]) => docsWith(rows.map((row) => `${row} ${/\| (?:R|R L|R D) \|/.test(row) ? 'no: a reason' : '–'} |`))
const links = (source: string) => ({ links: { test: { 'self.test.ts': source } } })
const proven = '[links/self](../packages/links/test/self.test.ts)'

function tree(t: Test, docs: Record<string, string>, packages: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return t.testdir({ docs, packages, ...more } as Parameters<Test['testdir']>[0])
}

t.test('a rule with a title, a rule with a page and an open rule cause no problem', async (t) => {
  const root = tree(
    t,
    inDocs(
      `| K1 | Links have three members. | links | R | ${proven} |`,
      `| X3 | The codes are published. | links | R D | ${proven} · [guide](guide.md) |`,
      '| Q8 | The styles are explained. | docs | D | [guide](guide.md#styles) |',
      '| I2 | Run once. | idempotency | R | open |'
    ),
    links(titled('has a self link [K1] [X3]'))
  )
  t.strictSame(checkRules(root).problems, [])
})

t.test('a rule without proof is reported, and a page alone proves only documentation', async (t) => {
  const root = tree(t, inDocs('| K1 | Three members. | links | R L | [guide](guide.md) |', '| Q8 | Explained. | docs | D | |'))
  t.match(checkRules(root).problems, [/^K1: no test title ends with \[K1\]/, /^Q8: .*Link the page/])
  t.equal(checkRules(root).problems.length, 2)
})

t.test('a rule that is marked open although a test proves it is stale, and the generated page removes the mark', async (t) => {
  const root = tree(t, inDocs('| K1 | Three members. | links | R | open |'), links(titled('links [K1]')))
  const { problems, page } = checkRules(root)
  t.match(problems, [/^K1: is open, but packages\/links\/test\/self\.test\.ts proves it/, /^K1: the column "where"/])
  t.match(page, `| R | ${proven} |`)
})

t.test('a title that names an unknown rule is reported with its file', async (t) => {
  const root = tree(t, inDocs('| I2 | Run once. | idempotency | R | open |'), {}, { scripts: { test: { 'a.test.ts': titled('x [Z9]') } } })
  t.strictSame(checkRules(root).problems, ['scripts/test/a.test.ts: the title "x [Z9]" names Z9, which docs/rules.md does not have.'])
})

t.test('the column lists every proving file of packages, examples and scripts, sorted, with any kind of quotes', async (t) => {
  const root = tree(t, inDocs('| K1 | Three members. | links | R | |'), links(titled('links [K1]').replaceAll("'", '`')), {
    examples: { orders: { test: { 'surface.test.ts': titled('links [K1]').replaceAll("'", '"') } } },
    scripts: { test: { 'b.test.ts': titled("it\\'s [K1]") } }
  })
  const { problems, page } = checkRules(root)
  t.strictSame(problems, ['K1: the column "where" does not match the test titles. Run pnpm fix.'])
  t.match(page, `| R | [orders/surface](../examples/orders/test/surface.test.ts) · ${proven} · [scripts/b](../scripts/test/b.test.ts) |`)
})

t.test('skipped, unfinished and commented tests prove nothing', async (t) => {
  const source = `${titled('a [K1]', ', { skip: true }')}${titled('b [K1]', ', { todo: true }')}// ${titled('c [K1]')}/* ${titled('d [K1]')}`
  const root = tree(t, inDocs('| K1 | Three members. | links | R | |'), links(source))
  t.match(checkRules(root).problems, [/^K1: no test title/])
})

t.test('errors in the page are reported: a duplicate rule, a missing kind, a missing page', async (t) => {
  const root = tree(
    t,
    inDocs(
      '| K1 | Three members. | links | R | open |',
      '| K1 | Again. | links | R | open |',
      '| K2 | No kind. | links | open |',
      '| V5 | Policy. | docs | D | [policy](policy.md) |'
    )
  )
  t.match(checkRules(root).problems, [/^K1: is listed twice/, /no kind of proof/, /^V5: the page policy\.md does not exist/])
})

t.test('each rule that is observed over HTTP is proven on the composed example, or has a reason why not', async (t) => {
  const row = `| K1 | Three members. | links | R | [orders-service/links](../examples/orders-service/test/links.test.ts) |`
  const more = { examples: { 'orders-service': { test: { 'links.test.ts': titled('links [K1]') } } } }
  const report = (column: string, tests: Record<string, unknown>, where = row) =>
    checkRules(tree(t, docsWith([`${where}${column}`]), links(titled('nothing')), tests))
  t.strictSame(report(' yes |', more).problems, [])
  const stale = report(' no: not yet |', more)
  t.match(stale.problems, [/^K1: the column "in the example" does not match/])
  t.match(stale.page, '| yes |')
  const unproven = `| K1 | Three members. | links | R | ${proven} |`
  const own = checkRules(tree(t, docsWith([`${unproven} |`]), links(titled('links [K1]'))))
  t.strictSame(own.problems, [
    'K1: no test of the example names this rule. Write one, or write "no: <reason>" in the column "in the example".'
  ])
  t.match(report(' yes |', {}, unproven).problems, [/^K1: no test title/, /^K1: the column "where"/, /^K1: no test of the example/])
})
