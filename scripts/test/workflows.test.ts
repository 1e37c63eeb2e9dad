import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesUnder, repository } from '../workspace.ts'

const template = 'packages/create-concordat/project/_github/workflows'
const files = [...filesUnder(repository, '.github/workflows/*.yml'), ...filesUnder(repository, `${template}/*.yml`)]
const textOf = (file: string) => readFileSync(join(repository, file), 'utf8')

/** Returns the text of each job by its name, and under '' what precedes the jobs. */
function jobsOf(text: string) {
  const [head = '', body = ''] = text.split(/^jobs:\n/m)
  const jobs = body.split(/^(?= {2}[\w-]+:\n)/m).map((job) => [/^ {2}([\w-]+):/.exec(job)?.[1] ?? '', job] as const)
  return new Map([['', head], ...jobs.filter(([name]) => name !== '')])
}

/** Returns the steps of a job. */
const stepsOf = (job: string) => job.split(/^(?= {6}- )/m).slice(1)

t.ok(files.length >= 5, files.join(', '))

for (const file of files) {
  const text = textOf(file)
  t.test(`${file} pins its actions by commit, with the version as a comment, and stores no credentials`, async (t) => {
    for (const [line] of text.matchAll(/^.*\buses:.*$/gm)) t.match(line, /uses: [\w-]+\/[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    const checkouts = [...jobsOf(text).values()].flatMap(stepsOf).filter((step) => step.includes('uses: actions/checkout@'))
    t.equal(checkouts.length, text.split('uses: actions/checkout@').length - 1)
    for (const step of checkouts) t.match(step, /persist-credentials: false/)
  })

  t.test(`${file} may only read, unless a job says more, and what has an identity installs nothing`, async (t) => {
    const { '': head = '', ...jobs } = Object.fromEntries(jobsOf(text))
    t.match(head, /^permissions:\s+(?:\{ )?contents: read/m)
    t.notMatch(head, /: write/)
    for (const [name, job] of Object.entries(jobs)) {
      if (!/: write/.test(job)) continue
      t.notMatch(job, /\b(?:npm (?:ci|i|install|run|exec|start|test)|npx|pnpm|setup\.mjs|cache: )/, name)
      t.ok((job.match(/: write/g) ?? []).length === 1, `${name} has one right to write`)
    }
  })
}

t.test('one commit is pinned for each version of an action', async (t) => {
  const uses = files.flatMap((file) =>
    [...textOf(file).matchAll(/uses: (\S+)@(\S+) # (\S+)/g)].map(([, action, commit, version]) => `${action} ${version} ${commit}`)
  )
  t.ok(uses.length > 10)
  const pins = [...new Set(uses)]
  t.equal(new Set(pins.map((pin) => pin.split(' ')[0])).size, pins.length, pins.join('\n'))
})

t.test('what a job with the identity of the release runs needs nothing that is installed', async (t) => {
  const seen = new Set<string>()
  const visit = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const [, from = ''] of textOf(path).matchAll(/^import .* from '([^']+)'$/gm)) {
      if (from.startsWith('./')) visit(join('scripts', from))
      else t.match(from, /^node:/, `${path} imports ${from}`)
    }
  }
  visit('scripts/publish.ts')
  t.ok(seen.has('scripts/run.ts'))
})
