import t, { type Test } from 'tap'
import { unusedOptions } from '../check-options.ts'

const options = `
export const jobsOptions = describeOptions('jobs', {
  /** How often a job is attempted. */
  maxAttempts: integer({ default: 5 }),
  ...others.members
})`

/** Checks a repository with one package, whose option is `maxAttempts`, and these files. */
function check(t: Test, files: Readonly<Record<string, unknown>> = {}, source = options) {
  const { packages = {}, ...more } = files as { packages?: object }
  return unusedOptions(t.testdir({ packages: { jobs: { src: { 'options.ts': source } }, ...packages }, ...more }))
}

t.test('an option that nothing sets is a problem, also if only tests of its package or a table name it', async (t) => {
  const problem = [/^packages\/jobs\/src\/options\.ts:4: nothing sets the option maxAttempts\. Make it a constant/]
  t.match(check(t), problem)
  t.match(check(t, { docs: { 'jobs.md': '| `maxAttempts` | `5` |\n\n```text\nmaxAttempts: 5\n```\n' } }), problem)
  t.match(check(t, { packages: { other: { src: { 'a.ts': 'export const a = { maxAttempts: 5 }' } } } }), problem, 'of another package')
  const test = "import jobs from '@concordat/jobs'\njobs({ maxAttempts: 5 })"
  t.match(check(t, { packages: { other: { test: { 'a.test.ts': test } } } }), problem, 'a test')
})

t.test('an example, the template, a guide and another package are users, and so are operators', async (t) => {
  const program = 'start({ jobs: { maxAttempts: 5 } })'
  const imported = "import jobs from '@concordat/jobs'\n"
  for (const files of [
    { examples: { shop: { src: { 'app.ts': program } } } },
    { packages: { 'create-concordat': { src: { 'template.ts': program } } } },
    { docs: { 'jobs.md': `\`\`\`ts\n${program}\n\`\`\`\n` } },
    { docs: { 'jobs.md': '```diff\n-  jobs: {}\n+  jobs: { maxAttempts: 5 }\n```\n' } },
    { packages: { other: { src: { 'a.ts': imported + program } } } }
  ])
    t.strictSame(check(t, files), [], JSON.stringify(files))
  t.strictSame(check(t, {}, options.replace('attempted.', 'attempted. Operators lower it while the queue is full.')), [])
})

t.test('the tests of other packages are users of a test tool', async (t) => {
  const contract = { 'a.test.ts': "import { contract } from '@concordat/jobs/testing'\ncontract({ maxAttempts: 5 })" }
  const tool = { src: { testing: { 'contract.ts': options } } }
  t.strictSame(check(t, { packages: { jobs: tool, other: { test: contract } } }), [])
})
