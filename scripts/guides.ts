// Executes the guides as a reader would: in an empty folder, with the packed packages from a registry on this machine, each block in order. A block of code
// whose info string names a file (```ts src/app.ts) is written to it, `sh` is executed, `sh server` is started and runs until the end, and what
// follows as `json output` is compared with the output of the last command. Other blocks are only for reading. Run it after the build:
// node scripts/guides.ts [page]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { reachableRegistry, startRegistry } from './local-registry.ts'
import { type Block, blocksOf } from './markdown.ts'
import { packAll, publishedMembers } from './packed.ts'
import { reportProblems, run } from './run.ts'
import { repository } from './workspace.ts'

/** The pages whose blocks are executed. */
const pages = ['docs/getting-started.md']

interface Guide {
  readonly folder: string
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
  if (language === 'sh' && info === 'server') return startServer(text, guide)
  if (language === 'sh') {
    const { code, output } = await run('sh', ['-euc', text], { cwd: guide.folder, env: guide.env })
    guide.output = output
    return code === 0 ? undefined : `the command ended with code ${code}:\n${output}`
  }
  if (info === 'output') return difference(JSON.parse(text), jsonIn(guide.output))
  if (/^[\w./-]+\.\w+$|^\.env/.test(info)) {
    const path = join(guide.folder, info)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${text}\n`)
  }
  return undefined
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
const changing = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\d{4}-\d\d-\d\dT|^eyJ|^rt_|^whsec_/

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

async function main() {
  const wanted = process.argv.slice(2)
  const upstream = await reachableRegistry()
  if (upstream === undefined) {
    console.log('Skipped: this machine cannot reach the registry of npm.')
    return
  }
  const place = mkdtempSync(join(tmpdir(), 'concordat-guides-'))
  const registry = await startRegistry([...(await packAll(publishedMembers(), place)).values()], upstream)
  const env = {
    ...process.env,
    npm_config_registry: registry.url,
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    // npx asks before it installs, which a reader confirms.
    npm_config_yes: 'true',
    NODE_OPTIONS: '',
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter)
  }
  try {
    for (const page of wanted.length === 0 ? pages : wanted) {
      const folder = join(place, page.replaceAll(/\W/g, '-'))
      mkdirSync(folder)
      const problems = await follow(page, readFileSync(join(repository, page), 'utf8'), folder, env)
      reportProblems(problems)
      if (problems.length === 0) console.log(`✓ ${page}`)
    }
  } finally {
    registry.close()
    rmSync(place, { recursive: true, force: true })
  }
}

if (import.meta.main) await main()
