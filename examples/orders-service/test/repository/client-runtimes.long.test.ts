// The built client on every runtime that it names, against this service, through a proxy that loses a response and refuses a token.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@concordat/test-harness/until'
import { build } from 'esbuild'
import t, { type Test } from 'tap'
import { password, startService } from '../service.ts'
import type { calls as callsOf } from './client-calls.ts'

t.setTimeout(0)
const run = promisify(execFile)
const credentials = { username: 'ops@example.com', password }
const found: Awaited<ReturnType<typeof callsOf>> = {
  listed: 77,
  isReplayed: 'true',
  unitsInStock: 3,
  customers: 1,
  isRefreshed: true,
  missing: 404
}

/** Starts a proxy of a service. It loses the first response to each key, and refuses the first token at one path, as an expired one. */
async function startProxy(t: Test, target: number) {
  const faults = { lost: 0, refused: 0 }
  const keys = new Set<unknown>()
  let refuses = true
  const server = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming
    if (refuses && url.startsWith('/v2/customers')) {
      refuses = false
      faults.refused += 1
      const error = { status: 401, code: 'TOKEN_EXPIRED', message: 'The token has expired.' }
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
      return
    }
    const key = headers['idempotency-key']
    const isLost = key !== undefined && !keys.has(key)
    if (isLost) keys.add(key)
    const answered = (upstream: IncomingMessage) => {
      if (!isLost) return upstream.pipe(response.writeHead(upstream.statusCode ?? 502, upstream.headers))
      faults.lost += 1
      return upstream.resume().on('end', () => incoming.socket.destroy())
    }
    incoming.pipe(request({ host: '127.0.0.1', port: target, method, path: url, headers }, answered))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { faults, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const folder = t.testdir({})
const { app } = await startService(t)
await app.listen({ port: 0, host: '127.0.0.1' })
const { port } = app.server.address() as AddressInfo
const calls = JSON.stringify(join(import.meta.dirname, 'client-calls.ts'))

/** Builds a program as an application does, with the calls inside. */
async function built(name: string, contents: string) {
  const outfile = join(folder, name)
  const stdin = { contents: `import { calls } from ${calls}\n${contents}`, resolveDir: import.meta.dirname, loader: 'ts' as const }
  await build({ stdin, bundle: true, format: 'esm', target: 'es2022', conditions: ['@concordat/source'], outfile })
  return outfile
}

const program = await built(
  'program.mjs',
  `const [, , baseUrl, given] = globalThis.process.argv\nconsole.log(JSON.stringify(await calls(baseUrl, JSON.parse(given))))`
)
await built(
  'worker.mjs',
  `export default { async fetch(request) {
    const { baseUrl, ...given } = await request.json()
    return Response.json(await calls(baseUrl, given).catch((error) => ({ error: error.stack, cause: String(error.cause) })))
  } }`
)

type Run = (t: Test, baseUrl: string) => Promise<unknown>

/** Installs a runtime of the registry, and returns the path of its program, or the reason why there is none. */
async function installed(name: string, version: string, file: string) {
  const place = join(folder, `${name}-${version}`)
  mkdirSync(place)
  try {
    await run('npm', ['install', '--prefix', place, '--no-save', '--no-audit', '--no-fund', `${name}@${version}`])
    const path = join(place, 'node_modules', file)
    await run(path, ['--version'])
    return { path, reason: undefined }
  } catch (error) {
    return { path: '', reason: `${name}@${version} cannot be installed: ${(error as Error).message.split('\n').slice(0, 3).join(' ')}` }
  }
}

const asProgram =
  (path: string, ...words: readonly string[]): Run =>
  async (_, baseUrl) => {
    const { stdout } = await run(path, [...words, program, baseUrl, JSON.stringify(credentials)])
    return JSON.parse(stdout)
  }

const asWorker =
  (path: string): Run =>
  async (t, baseUrl) => {
    const config = join(folder, 'worker.capnp')
    writeFileSync(
      config,
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .caller), (name = "internet", network = (allow = ["public", "private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const caller :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.mjs")], compatibilityDate = "2026-11-01");
`
    )
    const child = spawn(path, ['serve', config, '--control-fd=3'], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
    t.teardown(() => child.kill('SIGKILL'))
    let control = ''
    child.stdio[3]?.on('data', (bytes: Buffer) => (control += bytes.toString()))
    const portIn = () => /"port":(\d+)/.exec(control)?.[1]
    await until(() => portIn() !== undefined)
    const body = JSON.stringify({ baseUrl, ...credentials })
    return (await fetch(`http://127.0.0.1:${portIn()}/`, { method: 'POST', body })).json()
  }

const nodeOf = (version: string) =>
  [`node-${process.platform}-${process.arch}`, version, `node-${process.platform}-${process.arch}/bin/node`] as const
const runtimes: readonly (readonly [name: string, install: readonly [string, string, string], runOf: (path: string) => Run])[] = [
  ['Node.js 22', nodeOf('22'), (path) => asProgram(path)],
  ['Node.js 26', nodeOf('26'), (path) => asProgram(path)],
  ['Bun', ['bun', 'latest', '.bin/bun'], (path) => asProgram(path)],
  ['Deno', ['deno', 'latest', '.bin/deno'], (path) => asProgram(path, 'run', '--allow-net')],
  ['workerd', ['workerd', 'latest', '.bin/workerd'], (path) => asWorker(path)]
]

async function sameCalls(t: Test, runIt: Run) {
  const { faults, baseUrl } = await startProxy(t, port)
  t.strictSame(await runIt(t, baseUrl), found)
  // The product and its change have a key each, and each response was lost once.
  t.match(faults, { refused: 1 })
  t.ok(faults.lost >= 1, `${faults.lost} responses were lost`)
}

t.test(`a list, a post whose response is lost, and a refresh work on Node.js ${process.versions.node}`, async (t) =>
  sameCalls(t, asProgram(process.execPath))
)
for (const [name, install, runOf] of runtimes) {
  const { path, reason } = await installed(...install)
  t.test(`a list, a post whose response is lost, and a refresh work on ${name}`, reason === undefined ? {} : { skip: reason }, async (t) =>
    sameCalls(t, runOf(path))
  )
}
