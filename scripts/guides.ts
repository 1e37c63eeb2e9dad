// Executes the guides as a reader would: in an empty folder, with the packed packages from a registry on this machine, each block in order. A block of code
// whose info string names a file (```ts src/app.ts) is written to it, `diff` changes the lines of a file, `sh` is executed, `sh server` is started
// and runs until the next one, a block `sh stopped` or the end, and what follows as `json output` or `text output` is compared with the output of the last command. Other
// blocks are only for reading. The variables of libpq name an empty PostgreSQL server, if one can be started here; without it, guides with
// commands that need one are skipped. Run it after the build:
// node scripts/guides.ts [page]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { reachableRegistry, startRegistry } from './local-registry.ts'
import { type Block, blocksOf } from './markdown.ts'
import { packAll, publishedMembers } from './packed.ts'
import { reportProblems, run } from './run.ts'
import { postgres } from './services.ts'
import { repository } from './workspace.ts'

/** The pages whose blocks are executed. */
const pages = [
  'getting-started',
  'testing',
  'accounts',
  'adding-a-version',
  'deployment',
  'operations',
  'files',
  'schedules',
  'languages',
  'related-resources',
  'upstream',
  'client',
  'tenants'
].map((name) => `docs/${name}.md`)
// Such a page creates the database of its service.
const usesServer = (markdown: string) => markdown.includes('createdb ')

// Between the output of a command and the folder in which it ended.
const marker = '«folder»'

interface Guide {
  /** Where the next block is executed: a command may change it with `cd`. */
  folder: string
  readonly env: NodeJS.ProcessEnv
  readonly servers: ChildProcess[]
  output: string
}

/** Executes the blocks of a page in a folder. Returns the first problem, with the line of its block. */
export async function follow(page: string, markdown: string, folder: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const guide: Guide = { folder, env, servers: [], output: '' }
  try {
    for (const block of blocksOf(markdown)) {
      const problem = await perform(block, guide)
      if (problem !== undefined) return [`${page}:${block.line}: ${problem}`]
    }
    return []
  } finally {
    await Promise.all(guide.servers.map(stop))
  }
}

async function perform({ language, info, text }: Block, guide: Guide): Promise<string | undefined> {
  if (language === 'sh' && info === 'server') {
    await Promise.all(guide.servers.splice(0).map(stop))
    return startServer(text, guide)
  }
  if (language === 'sh') {
    if (info === 'stopped') await Promise.all(guide.servers.splice(0).map(stop))
    const { code, output } = await run('sh', ['-euc', `${text}\nprintf '%s' "$marker$PWD"`], {
      cwd: guide.folder,
      env: { ...guide.env, marker }
    })
    const [printed = '', folder = guide.folder] = output.split(marker)
    guide.output = printed
    guide.folder = folder
    return code === 0 ? undefined : `the command ended with code ${code}:\n${printed}`
  }
  if (info === 'output') return language === 'json' ? difference(JSON.parse(text), jsonIn(guide.output)) : missingLine(text, guide.output)
  if (/^[\w./-]+\.\w+$|^\.env/.test(info)) {
    const path = join(guide.folder, info)
    mkdirSync(dirname(path), { recursive: true })
    if (language !== 'diff') writeFileSync(path, `${text}\n`)
    else {
      const changed = withChanges(readFileSync(path, 'utf8'), text)
      if (typeof changed === 'object') return `${info} does not contain these lines:\n${changed.missing}`
      writeFileSync(path, changed)
    }
  }
  return undefined
}

/** Returns a file with the changes of a diff, whose hunks begin after a line `@@`, or the old lines of a hunk that the file does not contain. */
export function withChanges(file: string, diff: string): string | { readonly missing: string } {
  let changed = file
  for (const hunk of diff.split(/^@@.*\n/m).filter((part) => part !== '')) {
    const lines = hunk.replace(/\n$/, '').split('\n')
    const [before = '', after = ''] = ['+', '-'].map((other) =>
      lines
        .filter((line) => !line.startsWith(other))
        .map((line) => `${line.slice(1)}\n`)
        .join('')
    )
    if (!changed.includes(before)) return { missing: before }
    changed = changed.replace(before, () => after)
  }
  return changed
}

function missingLine(shown: string, output: string) {
  const missing = shown.split('\n').find((line) => !output.includes(line))
  return missing === undefined ? undefined : `the page shows "${missing}", but the output is:\n${output}`
}

/** Starts a server, and waits for the line that says where it listens. */
function startServer(command: string, { folder, env, servers }: Guide) {
  // A process group of its own, so that all of it can be stopped.
  const server = spawn('sh', ['-euc', command], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  servers.push(server)
  let output = ''
  return new Promise<string | undefined>((resolve) => {
    const listen = (data: Buffer) => {
      output += data.toString()
      if (/https?:\/\/[\w.[\]:]+:\d+/.test(output)) resolve(undefined)
    }
    server.stdout.on('data', listen)
    server.stderr.on('data', listen)
    server.once('exit', (code) => resolve(`the server ended with code ${code}:\n${output}`))
  })
}

async function stop(server: ChildProcess) {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'close')
  process.kill(-(server.pid as number), 'SIGTERM')
  await ended
}

function jsonIn(output: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    return output
  }
}

// Ids, times and tokens differ each time.
const changing = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\d{4}-\d\d-\d\dT|^eyJ|^(rt|pr|whsec)_/

/** Returns how a value differs from the one that a page shows, which may leave out members. */
export function difference(shown: unknown, got: unknown, path = 'the output'): string | undefined {
  if (typeof shown === 'string' && typeof got === 'string' && changing.test(shown) && changing.test(got)) return undefined
  if (typeof shown !== 'object' || shown === null || typeof got !== 'object' || got === null)
    return Object.is(shown, got) ? undefined : `${path} is ${JSON.stringify(got)}, and the page shows ${JSON.stringify(shown)}`
  for (const [name, member] of Object.entries(shown)) {
    const found = difference(member, (got as Record<string, unknown>)[name], `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Creates a cache for npm with the downloads of the user's, but without the programs that npx has installed: this version of them is new. */
async function ownCache(place: string) {
  const downloads = join((await run('npm', ['config', 'get', 'cache'])).output.trim(), '_cacache')
  const cache = join(place, 'cache')
  mkdirSync(downloads, { recursive: true })
  mkdirSync(cache)
  symlinkSync(downloads, join(cache, '_cacache'))
  return cache
}

async function main() {
  const wanted = process.argv.slice(2)
  const upstream = await reachableRegistry()
  if (upstream === undefined) {
    console.log('Skipped: this machine cannot reach the registry of npm.')
    return
  }
  const place = mkdtempSync(join(tmpdir(), 'concordat-guides-'))
  const texts = (wanted.length === 0 ? pages : wanted).map((page) => ({ page, markdown: readFileSync(resolve(repository, page), 'utf8') }))
  const server = texts.some(({ markdown }) => usesServer(markdown)) ? await postgres.start() : undefined
  const registry = await startRegistry([...(await packAll(publishedMembers(), place)).values()], upstream)
  const env = {
    ...process.env,
    npm_config_registry: registry.url,
    npm_config_cache: await ownCache(place),
    npm_config_prefer_offline: 'true',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    // npx asks before it installs, which a reader confirms.
    npm_config_yes: 'true',
    // Readers use npm, also when pnpm runs this script.
    npm_config_user_agent: undefined,
    NODE_OPTIONS: '',
    ...(server && { PGHOST: '127.0.0.1', PGPORT: new URL(server.url).port, PGUSER: 'postgres' }),
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter)
  }
  try {
    for (const { page, markdown } of texts) {
      if (server === undefined && usesServer(markdown)) {
        const problem = `${page} was skipped, because this machine has no PostgreSQL.`
        if (process.env['CI'] === 'true') reportProblems([problem])
        else console.log(problem)
        continue
      }
      const folder = join(place, page.replaceAll(/\W/g, '-'))
      mkdirSync(folder)
      const problems = await follow(page, markdown, folder, env)
      reportProblems(problems)
      if (problems.length === 0) console.log(`✓ ${page}`)
    }
  } finally {
    registry.close()
    await server?.stop()
    rmSync(place, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
