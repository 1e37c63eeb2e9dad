import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

// The same service on other runtimes, where they are installed: every response is that of Node.js.

const run = promisify(execFile)
const service = fileURLToPath(new URL('./runtimes/service.ts', import.meta.url))
const condition = '--conditions=@concordat/source'

async function responsesOf(command: string, words: readonly string[]) {
  const { stdout } = await run(command, [...words, service], { maxBuffer: 10_000_000 })
  return stdout.split('\n')
}

function isInstalled(command: string) {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const expected = await responsesOf(process.execPath, [condition])
t.equal(expected.length, 13)
for (const [command, words] of [
  ['bun', [condition, 'run']],
  ['deno', ['run', '-A', condition]]
] as const) {
  t.test(`the preset works on ${command}`, isInstalled(command) ? {} : { skip: `install ${command}` }, async (t) => {
    t.strictSame(await responsesOf(command, words), expected)
  })
}
