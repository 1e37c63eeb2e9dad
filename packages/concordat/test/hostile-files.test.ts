import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const command = join(import.meta.dirname, '../src/command.ts')

interface Outcome {
  readonly code: unknown
  readonly out: string
  readonly err: string
}

function concordat(cwd: string, ...args: string[]): Promise<Outcome> {
  return run(cwd, [command, ...args])
}

function run(cwd: string, words: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--conditions=@concordat/source', ...words], { cwd }, (error, out, err) => {
      resolve({ code: error === null ? 0 : error.code, out, err })
    })
  })
}

function documentOf(schema: unknown, components: object = {}, path = '/v1/orders'): string {
  const content = { 'application/json': { schema } }
  const paths = { [path]: { get: { responses: { 200: { description: 'All.', content } } } } }
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths, components })
}

const reference = (index: number) => ({ $ref: `#/components/schemas/S${index + 1}` })

/** Components of which each leads to the next. */
function chainOf(length: number, link: (next: object) => object): Record<string, object> {
  const links = Array.from({ length }, (_, index) => [`S${index}`, link(reference(index))] as const)
  return Object.fromEntries([...links, [`S${length}`, { type: 'object', properties: { id: { type: 'string' } } }]])
}

const first = { $ref: '#/components/schemas/S0' }
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const plain = documentOf({ type: 'object', properties: { id: { type: 'string' } } })

async function outcomesOf(t: Test, files: Record<string, string | Buffer>, prepare: (path: string) => void = () => undefined) {
  const path = t.testdir({})
  for (const [name, content] of Object.entries({ 'plain.json': plain, ...files })) writeFileSync(join(path, name), content)
  prepare(path)
  return async (commands: readonly string[]) => {
    const outcomes = new Map<string, Outcome>()
    for (const one of commands) outcomes.set(one, await concordat(path, ...one.split(' ')))
    return outcomes
  }
}

t.test('a file that is not a document ends the command with exit code 2 and one line, which quotes nothing of the file', async (t) => {
  const files: Record<string, [Buffer | string | undefined, RegExp]> = {
    'secret.json': ['root:$6$secret', /is not JSON in UTF-8/],
    'terminal.json': ['{"a":\u001b[2J', /is not JSON in UTF-8\.$/],
    'colon.json': ['{"a" secret', /is not JSON in UTF-8: it is invalid at position 5\.$/],
    'bytes.json': [Buffer.concat([Buffer.from('{"openapi":"3.1.0","info":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]), /UTF-8/],
    'wide.json': [Buffer.from(plain, 'utf16le'), /is not JSON in UTF-8/],
    'empty.json': ['', /is not JSON in UTF-8/],
    'list.json': ['[]', /is not an OpenAPI 3\.1 document/],
    'pipe.json': [undefined, /cannot be read: it is not a regular file/],
    'device.json': [undefined, /cannot be read: it is not a regular file/],
    'folder.json': [undefined, /cannot be read: it is not a regular file/],
    'loop.json': [undefined, /cannot be read: ELOOP/]
  }
  const given = Object.entries(files).flatMap(([name, [content]]) => (content === undefined ? [] : [[name, content] as const]))
  const outcomes = await outcomesOf(t, Object.fromEntries(given), (path) => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(path, 'pipe.json')])
    symlinkSync('/dev/zero', join(path, 'device.json'))
    symlinkSync('loop.json', join(path, 'loop.json'))
    mkdirSync(join(path, 'folder.json'))
  })
  for (const [args, { code, out, err }] of await outcomes([
    ...Object.keys(files).map((name) => `lint ${name}`),
    'diff plain.json pipe.json',
    'diff device.json plain.json'
  ])) {
    const [name] = Object.keys(files).filter((one) => args.includes(one))
    t.strictSame([code, out], [2, ''], args)
    const [line = '', ...rest] = err.split('\n')
    t.strictSame(rest, [''], args)
    t.match(line, files[name as string]?.[1], args)
    t.notMatch(line, /secret(?!\.json)|\p{Cc}/u, args)
  }
})

const loop = (name: string) => ({ $ref: `#/components/schemas/${name}` })

t.test('a document that is deep, or whose references form a chain, a circle or a tree, ends with a result or one line', async (t) => {
  const deep = documentOf('here').replace('"here"', `{"type":"array","default":${nested(200_000)}}`)
  const outcomes = await outcomesOf(t, {
    'deep.json': deep,
    'chain.json': documentOf(first, { schemas: chainOf(20_000, (next) => ({ type: 'object', properties: { next } })) }),
    'links.json': documentOf(first, { schemas: chainOf(20_000, (next) => next) }),
    // Without a limit, 2^40 parts.
    'tree.json': documentOf(first, { schemas: chainOf(40, (next) => ({ allOf: [next, next] })) }),
    'circle.json': documentOf(loop('A'), { schemas: { A: { allOf: [loop('B'), loop('A')] }, B: loop('A') } })
  })
  const commands = [
    'lint chain.json',
    'lint links.json',
    ...['deep', 'chain', 'links', 'tree', 'circle'].map((name) => `diff plain.json ${name}.json`)
  ]
  for (const [args, { code, out, err }] of await outcomes(commands)) {
    if (code === 2) t.strictSame([out, err], ['', tooDeep], args)
    else t.ok([0, 1].includes(code as number) && err === '' && out !== '', args)
    t.equal(code === 2, /deep|diff.*links/.test(args), args)
  }
})
const tooDeep = 'The document is nested too deeply, or its references form too long a chain. Describe it with fewer levels.\n'

const schema = (type: string) => ({
  type: 'object',
  properties: { [`${'a'.repeat(60)}b`]: { type } },
  patternProperties: { '^(a+)+$': { minLength: 1 } }
})

t.test('a pattern that backtracks ends the comparison after the time that the size of the documents allows', async (t) => {
  const path = t.testdir({ 'old.json': documentOf(schema('string')), 'new.json': documentOf(schema('integer')) })
  t.strictSame(await concordat(path, 'diff', 'old.json', 'new.json'), {
    code: 2,
    out: '',
    err: 'The documents could not be processed within 21 seconds. Look for patterns that backtrack, and for unions in unions.\n'
  })
})

t.test('a document that takes all memory ends the command with one line', async (t) => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string', description: `d${index}` }])
  )
  const path = t.testdir({ 'large.json': documentOf({ type: 'object', properties }) })
  t.strictSame(await run(path, ['--max-old-space-size=16', command, 'lint', 'large.json']), {
    code: 2,
    out: '',
    err: 'The documents could not be processed: Worker terminated due to reaching memory limit: JS heap out of memory\n'
  })
})

t.test('names are printed without control characters, in one line each of limited length', async (t) => {
  const path = '/v1/\u001b[2J\u001b]0;title\u0007get\nNo findings.\r\u202e\u2028'
  const outcomes = await outcomesOf(t, {
    'names.json': documentOf({ type: 'object', properties: { [`b_${'x'.repeat(9000)}`]: {} } }, {}, path)
  })
  for (const [args, { code, out, err }] of await outcomes(['lint names.json', 'diff names.json plain.json'])) {
    t.strictSame([code, err], [1, ''], args)
    t.notMatch(out.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}]/u, args)
    const lines = out.trimEnd().split('\n')
    t.ok(
      lines.slice(1).every((line) => line.startsWith('  ') && line.length < 2100),
      args
    )
    if (!args.endsWith('plain.json') || args.startsWith('lint'))
      t.match(out, String.raw`\u{1b}[2J\u{1b}]0;title\u{7}get\u{a}No findings.`, args)
  }
})
