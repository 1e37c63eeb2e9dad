import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { transportSecurityServerOptions } from '@concordat/transport-security'
import t from 'tap'

const program = fileURLToPath(new URL('logging-process.ts', import.meta.url))

function begin(ending: string) {
  const child = spawn(process.execPath, ['--conditions=@concordat/source', program, ending], { stdio: ['ignore', 'pipe', 'ignore'] })
  return { child, output: child.stdout }
}

function urlsIn(lines: string) {
  const parsed = lines
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { readonly msg: string; readonly url: string }]))
  return parsed.filter(({ msg }) => msg === 'request completed').map(({ url }) => url)
}

for (const [ending, title] of [
  ['end', 'by itself'],
  ['exit', 'by process.exit'],
  ['signal', 'by a signal that it handles'],
  ['error', 'by an error that nobody catches']
] as const) {
  t.test(`a buffered log loses no line when the process ends ${title}`, async (t) => {
    t.strictSame(urlsIn(await text(begin(ending).output)), ['/1', '/2', '/3'])
  })
}

t.test('a buffered log is written together, at the latest after a second, so that a killed process loses no more than that', async (t) => {
  const { child, output } = begin('wait')
  const [block] = await once(output, 'data')
  child.kill('SIGKILL')
  t.strictSame(urlsIn(String(block)), ['/1', '/2', '/3'], 'one write has all lines')
})

t.test('all servers of a process share the buffer, and others have the log that they set themselves', async (t) => {
  const [one, two] = ['info', 'error'].map((bufferedLog) => transportSecurityServerOptions({ bufferedLog: bufferedLog as 'info' }).logger)
  t.match([one, two], [{ level: 'info' }, { level: 'error' }])
  t.equal(one?.stream, two?.stream)
  t.notHas(transportSecurityServerOptions(), 'logger')
  t.throws(() => transportSecurityServerOptions({ bufferedLog: 'loud' as 'info' }), TypeError)
})
