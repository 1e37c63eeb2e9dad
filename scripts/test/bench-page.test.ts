import t from 'tap'
import { costSections, page, type Results } from '../../proofs/bench/page.ts'
import { rows } from '../../proofs/bench/rows.ts'

// Ours costs 20 µs. All peers cost 10 µs, except hand-written code in the given row: it is below its floor there.
const resultsWithSlow = (name: string | undefined): Results => ({
  costs: new Map(
    rows.flatMap((row) =>
      row.peers.map((peer) => {
        const cost = peer === 'ours' ? 20 : peer === 'same' && row.name === name ? 30 : 10
        return [{ row, peer, server: { file: '' } }, [cost, cost, cost]] as const
      })
    )
  ),
  databaseCosts: new Map(),
  starts: new Map(),
  growth: [],
  soak: [],
  rounds: 3,
  minutes: 1,
  load: '0.0',
  machine: 'a machine',
  versions: 'some versions'
})
const { title } = rows.find(({ name }) => name === 'collection') as (typeof rows)[number]

t.test('the READMEs quote a row, and leave out one that is not valid', async (t) => {
  for (const [file, ratio] of [
    ['README.md', 'takes 2.0 times'],
    ['packages/conventions/README.md', '0.50']
  ] as const) {
    t.match(costSections(resultsWithSlow(undefined)).get(file), `${title} ${ratio}`, `${file}, valid`)
    t.match(costSections(resultsWithSlow('collection')).get(file), `an item ${ratio}, a POST with a new key ${ratio}`, `${file}, not valid`)
    t.notMatch(costSections(resultsWithSlow('collection')).get(file), title, `${file}, not valid`)
  }
})

t.test('a README whose row is not valid says so instead of its figures', async (t) => {
  for (const [file, name] of [
    ['packages/idempotency/README.md', 'order'],
    ['packages/idempotency/README.md', 'replay'],
    ['packages/batch/README.md', 'item']
  ] as const) {
    t.match(costSections(resultsWithSlow(undefined)).get(file), /\d/, `${file}, valid`)
    t.match(costSections(resultsWithSlow(name)).get(file), /^The last run has no valid figure/, `${file}, ${name} not valid`)
  }
})

t.test('the chart leaves out a row that the table marks as not valid', async (t) => {
  const [, chart] = page(resultsWithSlow('collection')).split('```text') as [string, string]
  t.match(chart, 'an item, µs')
  t.notMatch(chart, `${title}, µs`)
  t.match(page(resultsWithSlow('collection')), `${title} (**not valid**`)
})
