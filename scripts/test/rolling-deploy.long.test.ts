// Two releases of the packages in processes on one schema: this one, and an earlier one. Clients see one service, whichever process responds. The earlier
// release is the last one that has a tag; before the first release, it is the commit before the last change of the tables.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '@concordat/test-harness/until'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { reachableRegistry, startRegistry } from '../local-registry.ts'
import { must, pnpm } from '../run.ts'
import { environmentOf } from '../starter.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const server = process.env['TEST_DATABASE_URL'] ?? ''
const upstream = await reachableRegistry()
const isShallow = git('rev-parse', '--is-shallow-repository') === 'true'
const skip =
  (server === '' && 'set TEST_DATABASE_URL to the address of a PostgreSQL server') ||
  (upstream === undefined && 'this machine cannot reach the registry of npm') ||
  (isShallow && 'this clone has no earlier release: run git fetch --unshallow')
const changesTables = '(CREATE|ALTER|DROP) (UNLOGGED )?(TABLE|INDEX|SEQUENCE)'
const [clients, writesOfClient] = [4, 10]
const writes = clients * writesOfClient
const user = { username: 'ada@example.com', password: 'correct horse battery staple' }

function git(...words: string[]) {
  return execFileSync('git', words, { cwd: repository, encoding: 'utf8' }).trim()
}

function earlierRelease() {
  const [tag] = git('tag', '--list', '@concordat/postgres@*', '--sort=-creatordate', '--merged', 'HEAD').split('\n')
  return tag || `${git('log', '-1', '--format=%H', '-G', changesTables, '--', 'packages/postgres/src')}^`
}

/** Builds and packs the packages of a checkout, and creates a project with them. Returns its folder. */
async function projectOf(t: Test, name: string, root: string, place: string) {
  for (const script of ['build', 'packed']) await must(process.execPath, [join(root, `scripts/${script}.ts`)], { cwd: root })
  const tarballs = globSync('*.tgz', { cwd: join(root, '.packed') }).map((file) => join(root, '.packed', file))
  const registry = await startRegistry(tarballs, String(upstream))
  t.teardown(() => registry.close())
  const home = join(place, name)
  mkdirSync(home)
  const env = environmentOf(home, registry.url)
  await must('npm', ['create', 'concordat', 'library', '--', '--yes', '--with', 'auth,jobs,webhooks'], { cwd: home, env })
  await must('npm', ['install', 'pg'], { cwd: join(home, 'library'), env })
  return join(home, 'library')
}

interface Received {
  readonly id: string
  readonly title: string
}

/** Starts a receiver that records the books of the events. */
async function startReceiver(t: Test, place: string) {
  const [key, cert] = [join(place, 'key.pem'), join(place, 'cert.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
    stdio: 'pipe'
  })
  const seen: Received[] = []
  const receiver = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, async (request, response) => {
    const event = JSON.parse(Buffer.concat(await request.toArray()).toString())
    if (event.type === 'book.created') seen.push({ id: String(request.headers['webhook-id']), title: event.data.title })
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  return { url: `https://localhost:${(receiver.address() as AddressInfo).port}/`, seen }
}

// Those of one deployment, which the two releases share.
const secrets = Object.fromEntries(
  ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'].map((name) => [name, randomBytes(32).toString('base64')])
)

/** A process of one of the releases. */
class Release {
  readonly #child: ChildProcess
  readonly address: string

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  static async start(t: Test, folder: string, databaseUrl: string) {
    const env = {
      ...process.env,
      ...secrets,
      DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true',
      DATABASE_URL: databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'fatal',
      NODE_OPTIONS: ''
    }
    const child = spawn(process.execPath, ['src/main.ts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    t.teardown(() => child.kill('SIGKILL'))
    let output = ''
    child.stderr.on('data', (data) => (output += data))
    for await (const line of createInterface({ input: child.stdout })) {
      output += `${line}\n`
      const address = / at (http:\/\/\S+)/.exec(line)?.[1]
      if (address !== undefined) return new Release(child, address)
    }
    throw new Error(`${folder} did not start:\n${output}`)
  }

  /** Sends a request as a client does: again, with the same key, while the response is a 503. */
  async send(method: string, path: string, request: Sent = {}) {
    let answer = await this.#once(method, path, request)
    await until(async () => {
      if (answer.status === 503) answer = await this.#once(method, path, request)
      return answer.status !== 503
    }, 500)
    return answer
  }

  async #once(method: string, path: string, { body, token, headers }: Sent) {
    const response = await fetch(new URL(path, this.address), {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` })
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    return { status: response.status, ...((await response.json()) as Answer) }
  }

  async signIn() {
    const { data } = await this.send('POST', '/v1/tokens', { body: user })
    return { token: textOf(data, 'accessToken'), refreshToken: textOf(data, 'refreshToken') }
  }

  async stop() {
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    const [code] = await ended
    return code as number | null
  }
}

interface Sent {
  readonly body?: object
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Answer {
  readonly data: Readonly<Record<string, unknown>> & Iterable<Readonly<Record<string, unknown>>>
  readonly _links?: readonly { readonly rel: string; readonly href: string }[]
}

const textOf = (data: Readonly<Record<string, unknown>>, name: string) => String(data[name])
const newKey = () => ({ 'idempotency-key': randomUUID() })

function linkOf({ _links = [] }: Pick<Answer, '_links'>, wanted: string) {
  const { pathname, search } = new URL(_links.find(({ rel }) => rel === wanted)?.href ?? '')
  return pathname + search
}

/** Does what clients do, with each request at one release and the next at the other. */
async function crossOver(t: Test, first: Release, second: Release, title: string, receiver: { url: string; seen: readonly Received[] }) {
  const { token, refreshToken } = await first.signIn()
  const author = await second.send('POST', '/v1/authors', { token, headers: newKey(), body: { name: title } })
  t.equal(author.status, 201, 'a token of the one is valid at the other')
  const renewed = await second.send('POST', '/v1/tokens', { body: { refreshToken } })
  t.equal(renewed.status, 200, 'and so is a refresh token')
  t.equal((await first.send('GET', '/v1/webhook-subscriptions', { token: textOf(renewed.data, 'accessToken') })).status, 200)

  const subscription = await first.send('POST', '/v1/webhook-subscriptions', {
    token,
    headers: newKey(),
    body: { url: `${receiver.url}${title}`, eventTypes: ['book.created'] }
  })
  t.equal(subscription.status, 201)
  const book = { authorId: textOf(author.data, 'id'), year: 1973 }
  const made: string[] = []
  async function write(client: number) {
    for (let n = 0; n < writesOfClient; n += 1) {
      const [one, other] = (client + n) % 2 === 0 ? [first, second] : [second, first]
      const request = { token, headers: newKey(), body: { ...book, title: `${title} ${client} ${n}` } }
      const created = await one.send('POST', '/v1/books', request)
      const retried = await other.send('POST', '/v1/books', request)
      t.same([created.status, retried.status], [201, 201])
      t.same(retried.data, created.data, 'the other release replays the response')
      made.push(request.body.title)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => write(client)))
  await until(() => made.every((one) => receiver.seen.some((event) => event.title === one)), 50)

  const mine = `/v1/books?authorId=${book.authorId}&perPage=${writes / 4}`
  const pages = [await first.send('GET', mine)]
  for (const release of [second, first, second]) pages.push(await release.send('GET', linkOf(pages.at(-1) as Answer, 'next')))
  const listed = pages.flatMap(({ data }) => [...data].map((one) => textOf(one, 'title')))
  t.same(listed.toSorted(), made.toSorted(), 'cursors continue at the other release, and each write happened once')

  const accepted = await first.send('POST', '/v1/book-reports', { token })
  const record = await second.send('GET', `/v1/book-reports/${textOf(accepted.data, 'jobId')}`, { token, headers: { prefer: 'wait=30' } })
  t.match(record, { status: 200, data: { status: 'completed' } }, 'a job of the one is read at the other')
}

t.test('this release and the one before it serve the same clients on one schema, forth and back', { skip }, async (t) => {
  const place = mkdtempSync(join(tmpdir(), 'concordat-rolling-'))
  const checkout = join(place, 'checkout')
  const ref = earlierRelease()
  t.comment(`the earlier release is ${git('log', '-1', '--format=%h %s', ref)}`)
  git('worktree', 'add', '--quiet', '--detach', checkout, ref)
  t.teardown(() => {
    git('worktree', 'remove', '--force', checkout)
    rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  })
  await pnpm(['install', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts'], { cwd: checkout })
  const [earlier, present] = [await projectOf(t, 'earlier', checkout, place), await projectOf(t, 'present', repository, place)]
  // A service keeps the migrations that it has, whatever the template of a later release begins with.
  cpSync(join(earlier, 'src/migrations'), join(present, 'src/migrations'), { recursive: true })

  const name = `concordat_rolling_${randomUUID().slice(0, 8)}`
  const admin = new Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  t.teardown(async () => {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const receiver = await startReceiver(t, place)

  const before = await Release.start(t, earlier, url)
  const { token } = await before.signIn()
  const after = await Release.start(t, present, url)
  t.equal((await after.send('GET', '/v1/webhook-subscriptions', { token })).status, 200)
  await crossOver(t, before, after, 'forth', receiver)
  await crossOver(t, after, before, 'and-forth', receiver)
  t.equal(await before.stop(), 0)
  t.equal((await after.send('GET', '/health/ready')).status, 200)

  const again = await Release.start(t, earlier, url)
  await crossOver(t, again, after, 'back', receiver)
  t.equal(await after.stop(), 0)
  t.equal((await again.send('GET', '/v1/books?perPage=1')).status, 200, 'the earlier release works alone on the schema of this one')
  t.equal(await again.stop(), 0)
  const ids = receiver.seen.map(({ id }) => id)
  t.ok(new Set(ids).size >= 3 * writes, 'each event has an id of its own')
})
