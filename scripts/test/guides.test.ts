import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { difference, follow, withChanges } from '../guides.ts'

const page = (...blocks: [info: string, text: string][]) => blocks.map(([info, text]) => `\`\`\`${info}\n${text}\n\`\`\``).join('\n\n')

t.test('writes files, executes commands and compares what they print, with a server until it must be stopped or the end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const server = `node -e "require('http').createServer((_, r) => r.end('{\\"up\\":true}')).listen(0, '127.0.0.1', function () { require('fs').writeFileSync('port', String(this.address().port)); console.log('http://127.0.0.1:' + this.address().port) })"`
  const text = page(
    ['json data/a.json', '{ "a": [1, "2026-01-01T00:00:00Z"] }'],
    ['sh', 'cat data/a.json'],
    ['json output', '{ "a": [1, "2025-12-31T23:59:59Z"] }'],
    ['sh server', server],
    ['sh', 'curl -s http://127.0.0.1:$(cat port)'],
    ['json output', '{ "up": true }'],
    ['sh', 'mkdir -p inner\ncd inner\necho one; echo two'],
    ['text output', 'two'],
    ['json b.json', '{}'],
    ['diff b.json', '-{}\n+[]'],
    ['sh stopped', '! curl -s http://127.0.0.1:$(cat ../port)'],
    ['ts', 'not executed']
  )
  t.strictSame(await follow('a.md', text, folder, process.env), [])
  t.equal(readFileSync(join(folder, 'data/a.json'), 'utf8'), '{ "a": [1, "2026-01-01T00:00:00Z"] }\n')
  t.equal(readFileSync(join(folder, 'inner/b.json'), 'utf8'), '[]\n', 'in the folder that a command entered')
  const port = Number(readFileSync(join(folder, 'port'), 'utf8'))
  const free = createServer().listen(port, '127.0.0.1')
  await new Promise((resolve, reject) => void free.once('listening', resolve).once('error', reject))
  free.close()
})

t.test('reports the block that fails, and not what follows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const fails = async (...blocks: [string, string][]) => follow('a.md', page(...blocks), folder, process.env)
  t.match(await fails(['sh', 'true'], ['sh', 'echo no; exit 3'], ['sh', 'false']), [/^a\.md:6: the command ended with code 3:\nno\n$/])
  t.match(await fails(['sh', `echo '{"a":1}'`], ['json output', '{ "a": 2 }']), [/^a\.md:6: the output\.a is 1, and the page shows 2$/])
  t.match(await fails(['sh', 'echo no'], ['text output', 'yes']), [/^a\.md:6: the page shows "yes", but the output is:\nno\n$/])
  t.match(await fails(['json c.json', '{}'], ['diff c.json', '-[]\n+{}']), [/^a\.md:6: c\.json does not contain these lines:\n\[\]\n$/])
  t.match(await fails(['sh server', 'echo stopped']), [/^a\.md:2: the server ended with code 0:\nstopped\n$/])
})

t.test('a page may leave out members, and shows other ids, times and tokens', (t) => {
  t.equal(difference({ id: '0b8f7c1e-9a4d-4c62-8f5e-2d6a3b1c0e97' }, { id: '1b8f7c1e-9a4d-4c62-8f5e-2d6a3b1c0e97', more: 1 }), undefined)
  t.match(difference({ list: [{ a: 'x' }] }, { list: [] }), /^the output\.list\.0 is undefined/)
  t.match(difference('x', 'y'), /^the output is "y"/)
  t.end()
})

t.test('a diff replaces, adds and removes lines, each hunk in its place', (t) => {
  const file = 'a\nb\n\nc\nd\n'
  t.equal(withChanges(file, ' b\n\n+x\n c\n@@ later\n-d\n+$&'), 'a\nb\n\nx\nc\n$&\n')
  t.strictSame(withChanges(file, '-b\n@@\n-gone'), { missing: 'gone\n' })
  t.end()
})
