import test from 'node:test'
import { type RunTest, runCases } from '@concordat/plugin-kit/testing'
import t from 'tap'

t.test('registers a test for each case, and begins each with its own scene', async (t) => {
  const tests: [string, () => Promise<void>][] = []
  const run: RunTest = (title, body) => tests.push([title, body])
  const seen: number[] = []
  let count = 0
  const cases = { 'is first': (scene: number) => void seen.push(scene), 'is second': async (scene: number) => void seen.push(scene * 10) }
  runCases(run, cases, async () => (count += 1))
  t.strictSame([tests.map(([title]) => title), count], [['is first', 'is second'], 0])
  for (const [, body] of tests) await body()
  t.strictSame(seen, [1, 20])
})

t.test('a test fails when its case or its beginning fails', async (t) => {
  const tests: (() => Promise<void>)[] = []
  const run: RunTest = (_title, body) => tests.push(body)
  runCases(run, { fails: () => Promise.reject(new Error('case')) }, () => 1)
  runCases(run, { 'never starts': () => void t.fail() }, () => Promise.reject(new Error('beginning')))
  await t.rejects(async () => tests[0]?.(), { message: 'case' })
  await t.rejects(async () => tests[1]?.(), { message: 'beginning' })
})

t.test('takes the test function of node:test', async (t) => {
  const run: RunTest = test
  t.type(run, 'function')
})
