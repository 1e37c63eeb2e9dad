import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { readSettings } from '@concordat/service'
import { nodeOptions } from '@concordat/test-harness/child'
import t, { type Test } from 'tap'

function folderOf(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'secret-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function secretsOf(folder: string, environment: Readonly<Record<string, string>> = {}) {
  return readSettings({ folder: pathToFileURL(`${folder}/`), secrets: ['A_SECRETS', 'B_SECRETS'] }, environment).secrets
}

const program = `import { readSettings } from '@concordat/service'
  const folder = new URL(process.argv[1])
  if (process.argv[2]) process.setuid(Number(process.argv[2]))
  try { console.log(readSettings({ folder, secrets: ['A_SECRETS'] }, {}).secrets.A_SECRETS[0]) } catch (error) { console.log(error.message) }`
const words = (folder: string, ...more: string[]) => [
  ...nodeOptions,
  '--input-type=module',
  '--eval',
  program,
  pathToFileURL(`${folder}/`).href,
  ...more
]

t.test('the first start writes a random secret beside the data folder, and each variable has one of its own', async (t) => {
  const folder = folderOf(t)
  const first = secretsOf(folder)
  t.strictSame(readdirSync(folder), ['data.secret'])
  t.equal(statSync(join(folder, 'data.secret')).mode & 0o777, 0o600)
  t.equal(new Set([...first.A_SECRETS, ...first.B_SECRETS, readFileSync(join(folder, 'data.secret'), 'utf8').trim()]).size, 3)
  t.strictSame(secretsOf(folder), first, 'the next start uses it')
  t.strictSame(secretsOf(folder, { DATABASE_URL: 'postgres://me@db/shop' }), first, 'also with a database elsewhere')
  t.notSame(secretsOf(folderOf(t)), first)
  t.notSame(secretsOf(folder, { DATA_DIR: join(folder, 'new', 'other/') }), first)
  t.strictSame(readdirSync(join(folder, 'new')), ['other.secret'])
  rmSync(join(folder, 'data.secret'))
  t.notSame(secretsOf(folder), first)
})

t.test('nothing is written where no secret is missing, or without a folder', async (t) => {
  const folder = folderOf(t)
  const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
  t.strictSame(secretsOf(folder, { A_SECRETS: secret, B_SECRETS: secret }), { A_SECRETS: [secret], B_SECRETS: [secret] })
  t.throws(() => secretsOf(folder, { NODE_ENV: 'production', PUBLIC_URL: 'https://shop.example' }), /A_SECRETS is missing/)
  t.throws(() => secretsOf(folder, { HOST: '0.0.0.0' }), /A_SECRETS is missing/)
  const inMemory = secretsOf(folder, { DATA_DIR: 'memory://' })
  t.strictSame(secretsOf(folder, { DATA_DIR: 'memory://' }), inMemory)
  t.strictSame(readdirSync(folder), [])
})

t.test('processes that start at the same time use the same secret', async (t) => {
  const folder = folderOf(t)
  const run = promisify(execFile)
  const outputs = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, words(folder), { cwd: import.meta.dirname }).then(({ stdout }) => stdout.trim()))
  )
  t.match(outputs[0], /^[\w+/]{43}=$/)
  t.equal(new Set(outputs).size, 1)
  t.strictSame(readdirSync(folder), ['data.secret'], 'no other file is left')
})

t.test('a file that others could know or replace stops the start with one line', async (t) => {
  const good = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE\n'
  const faults: Record<string, (path: string, folder: string) => void> = {
    'readable by its group': (path) => writeFileSync(path, good, { mode: 0o640 }),
    'readable by all': (path) => (writeFileSync(path, good), chmodSync(path, 0o604)),
    'writable by all': (path) => (writeFileSync(path, good), chmodSync(path, 0o602)),
    'a link to a good file': (path, folder) => {
      writeFileSync(join(folder, 'elsewhere'), good, { mode: 0o600 })
      symlinkSync(join(folder, 'elsewhere'), path)
    },
    'a link to nothing': (path) => symlinkSync('/nonexistent/secret', path),
    'a folder': (path) => mkdirSync(path, { mode: 0o700 }),
    empty: (path) => writeFileSync(path, '', { mode: 0o600 }),
    weak: (path) => writeFileSync(path, 'a'.repeat(44), { mode: 0o600 })
  }
  if (process.getuid?.() === 0) {
    faults['of another user'] = (path) => {
      writeFileSync(path, good, { mode: 0o600 })
      chownSync(path, 65_534, 65_534)
    }
  }
  for (const [fault, make] of Object.entries(faults)) {
    const folder = folderOf(t)
    make(join(folder, 'data.secret'), folder)
    t.throws(() => secretsOf(folder), { message: /^\S+data\.secret must be a file with a random secret .+ Delete it: [^\n]+$/ }, fault)
    rmSync(join(folder, 'data.secret'), { recursive: true })
    t.match(secretsOf(folder).A_SECRETS, [/^[\w+/]{43}=$/], `${fault}, deleted`)
  }
})

t.test('a file that cannot be read or written stops the start with one line', async (t) => {
  const folder = folderOf(t)
  // A name has at most 255 bytes. The second is that of the file, whose name is longer while it is written.
  for (const length of [250, 245]) {
    const message = /^The secret of development cannot be written to \S+\.secret: ENAMETOOLONG.+\. Set DATA_DIR to [^\n]+$/
    t.throws(() => secretsOf(folder, { DATA_DIR: join(folder, 'a'.repeat(length)) }), { message }, `${length}`)
  }
  t.strictSame(readdirSync(folder), [])
})

t.test(
  'a folder that cannot have the file stops the start with one line',
  { skip: process.getuid?.() !== 0 && 'only root can become another user' },
  async (t) => {
    const folder = folderOf(t)
    mkdirSync(join(folder, 'data'))
    chownSync(join(folder, 'data'), 65_534, 65_534)
    chmodSync(folder, 0o755)
    const output = execFileSync(process.execPath, words(folder, '65534'), { cwd: import.meta.dirname, encoding: 'utf8' })
    t.match(output, /^The secret of development cannot be written to \S+data\.secret: EACCES.+\. Set DATA_DIR to .+\n$/)
  }
)
