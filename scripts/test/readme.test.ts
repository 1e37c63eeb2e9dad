import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeOptions } from '@concordat/test-harness/child'
import t from 'tap'
import { type Block, blocksOf } from '../markdown.ts'
import { readPublishing } from '../packed.ts'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

const readme = readFileSync(join(repository, 'README.md'), 'utf8')
const [commands, sample, terminal] = blocksOf(readme) as [Block, Block, Block]

t.test('.ci/run begins with the commands of the README', async (t) => {
  const ci = readFileSync(join(repository, '.ci/run'), 'utf8')
  for (const command of commands.text.split('\n')) t.match(ci, new RegExp(`^ *([A-Z_]+=\\S+ )*${command}( |$)`, 'm'), command)
})

t.test('the README marks what needs a release, as long as there was none', async (t) => {
  const isMarked = readme.includes('`npm create concordat my-service` (from the first release on)')
  t.equal(
    isMarked,
    readPublishing().ownedNames.length === 0,
    'remove "(from the first release on)" when package.json has publishing.ownedNames'
  )
})

t.test('the README fits on a first screen', async (t) => {
  t.ok(readme.trimEnd().split('\n').length <= 100)
  const code = sample.text.split('\n')
  const [register, listen] = ['apiVersion(', 'app.listen('].map((call) => code.findIndex((line) => line.includes(call))) as [number, number]
  t.ok(listen - register <= 15, 'at most fifteen lines between register and listen')
})

t.test('the sample of the README does what its terminal shows', async (t) => {
  // The preset finds all packages that the sample imports.
  const folder = mkdtempSync(join(repository, 'packages/conventions/.readme-'))
  // Another service may listen on the port.
  writeFileSync(join(folder, 'main.ts'), sample.text.replace('port: 3000', 'port: 0'))
  const service = spawn(process.execPath, [...nodeOptions, 'main.ts'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(async () => {
    service.kill()
    if (service.exitCode === null) await once(service, 'exit')
    rmSync(folder, { recursive: true })
  })
  const env = { ...process.env, ...Object.fromEntries((await firstLine(service)).split(' ').map((pair) => pair.split(/=(.*)/))) }
  const steps = terminal.text.split(/^\$ /m).slice(1)
  t.ok(steps.length >= 2)
  for (const step of steps) {
    const [command = '', ...shown] = step.trimEnd().split('\n')
    const { code, output } = await run('sh', ['-euc', command], { cwd: folder, env })
    t.equal(code, 0, command)
    for (const line of shown) t.match(comparable(output), comparable(line))
  }
})

/** Returns an output without what differs in each run: identifiers and the port. */
function comparable(text: string) {
  return text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id').replaceAll(/127\.0\.0\.1:\d+/g, 'address')
}

async function firstLine({ stdout }: ChildProcess) {
  let output = ''
  for await (const part of stdout ?? []) {
    output += part
    if (output.includes('\n')) break
  }
  return output.slice(0, output.indexOf('\n'))
}
