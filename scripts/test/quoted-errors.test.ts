import t, { type Test } from 'tap'
import { wrongQuotations } from '../check-quoted-errors.ts'

const source = `
export const errors = defineErrors({ LOAN_OVERDUE: { statusCode: 409 } })
export function requireDays(days: number, caller: string) {
  if (caller === '') throw new TypeError('loans: the caller must have a name. Give one.')
  throw new TypeError(\`\${caller}: options.days must be an integer, but is \${days}.\`)
}`

function wrong(t: Test, readme: string) {
  const root = t.testdir({ packages: { loans: { 'README.md': readme, src: { 'loans.ts': source } } } })
  return wrongQuotations(root).map((line) => line.replace(/^packages\/loans\/README\.md:/, ''))
}

t.test('a quoted boot error may leave out values, the name of the package that a caller adds, and its end', async (t) => {
  for (const quoted of [
    'TypeError: loans: the caller must have a name',
    'TypeError: loans: options.days must be an integer, but is …',
    'Error: loans: … must be an integer'
  ])
    t.strictSame(wrong(t, `| \`${quoted}\` | at start |`), [], quoted)
})

t.test('a boot error that no source can raise is reported with its line', async (t) => {
  t.strictSame(wrong(t, 'Text.\n| `TypeError: loans: options.days is negative` |'), [
    '2 quotes "loans: options.days is negative", which is not in the sources'
  ])
  t.match(wrong(t, '| `Error: loans: but is … must be an integer` |'), [/is not in the sources/], 'parts in another order')
  t.match(wrong(t, '| `TypeError: loans: … is …` |'), [/is not in the sources/], 'too little to recognize a message')
  t.match(wrong(t, '| `TypeError: loans: the caller must have a name`, `… must have a street` |'), [/1 quotes "… must have a street"/])
})

t.test('a code in a table of codes must be defined, and other words in capitals are not codes', async (t) => {
  const table =
    '| code | status |\n|---|---|\n| `LOAN_OVERDUE`, `LOAN_LOST` | 409 |\n\nSet `MAX_LOANS`.\n\n| variable |\n|---|\n| `MAX_DAYS` |'
  t.strictSame(wrong(t, table), ['3 quotes "LOAN_LOST", which is not in the sources'])
})
