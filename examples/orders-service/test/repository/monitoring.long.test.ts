// The dashboard and the alerts that projects get, against a real Prometheus that scrapes this service under a short load.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { openDatabase } from '@concordat/postgres/open'
import { until } from '@concordat/test-harness/until'
import { webhookReceiver } from '@concordat/testing'
import t from 'tap'
import { signIn, startChild } from './child.ts'
import { environmentOf, freshDatabase, server } from './fresh-database.ts'

t.setTimeout(0)
const monitoring = join(import.meta.dirname, '../../../../packages/create-concordat/project/monitoring')
const isInstalled = spawnSync('promtool', ['--version']).status === 0
const onPrometheus = { skip: (!isInstalled || server === undefined) && 'install Prometheus, and set TEST_DATABASE_URL' }

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}
const dashboard = JSON.parse(readFileSync(join(monitoring, 'grafana/dashboards/service.json'), 'utf8')) as {
  readonly panels: readonly Panel[]
}
// What a short load does not cause: it is 0 in the dashboard.
const rare = ['Refusals under overload']
// One job and one delivery fail permanently. The panels must show the first one, with which their series begin.
const single = ['Failed jobs by kind', 'Deliveries that failed permanently']

/** Adds an export that no attempt can complete. */
async function addFailingExport(url: string) {
  const database = await openDatabase({ url })
  const queue = await database.openQueue()
  const id = randomUUID()
  await database.query(
    `INSERT INTO concordat.jobs (id, type, owner, state, attempt, tries, progress, input, created_at)
     VALUES ($1, 'order-export', 'nobody', 'queued', 0, 0, 0, '{"filters":{},"customerId":"none"}', $2)`,
    [id, Date.now()]
  )
  await queue.define('job-order-export')
  await queue.enqueue('job-order-export', [{ id, payload: id }])
  await queue.close()
  await database.close()
}

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}

t.test('the rules are valid, and each alert fires in its unit test', { skip: !isInstalled && 'install Prometheus' }, async (t) => {
  for (const words of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml']
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', words, { cwd: monitoring, encoding: 'utf8' })
    t.equal(status, 0, `${stdout}${stderr}`)
  }
  const names = [...readFileSync(join(monitoring, 'alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const tested = readFileSync(join(monitoring, 'alerts.test.yml'), 'utf8')
  for (const name of names) t.match(tested, `alertname="${name}"`)
})

t.test('each query of the dashboard returns data, and the alert of a process that is down fires', onPrometheus, async (t) => {
  const place = await freshDatabase(t)
  const env = { ...environmentOf(place), DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true' }
  const service = startChild(t, env)
  const address = await service.address
  const port = await freePort()
  const folder = t.testdir({})
  const config = `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(join(monitoring, 'alerts.yml'))}]
scrape_configs: [{ job_name: orders-service, static_configs: [{ targets: ['${new URL(address).host}'] }] }]`
  writeFileSync(join(folder, 'prometheus.yml'), config)
  const words = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const prometheus = spawn('prometheus', [...words, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  t.teardown(async () => {
    prometheus.kill('SIGKILL')
    await once(prometheus, 'exit')
  })

  async function resultOf(query: string): Promise<readonly { readonly value: readonly [number, string] }[]> {
    try {
      const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
      const { data } = (await (await fetch(url)).json()) as { readonly data: { readonly result: [] } }
      return data.result
    } catch {
      // It does not listen yet.
      return []
    }
  }

  const staff = await signIn(address)
  const ada = await signIn(address, 'ada@example.com')
  const send = async (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${address}${path}`, {
      method,
      headers: { ...staff, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) })
    })
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  const receiver = await webhookReceiver(t)
  const subscription = { url: receiver.url, eventTypes: ['order.created'] }
  const subscribed = await send('POST', '/v1/webhook-subscriptions', subscription, { 'idempotency-key': randomUUID() })
  t.equal(subscribed.status, 201, subscribed.body)
  const gone = await webhookReceiver(t, { respond: () => 410 })
  await send('POST', '/v1/webhook-subscriptions', { url: gone.url, eventTypes: ['order.created'] }, { 'idempotency-key': randomUUID() })
  await addFailingExport(place.databaseUrl as string)
  const { data } = JSON.parse((await send('GET', '/v2/products?perPage=1')).body) as { readonly data: readonly [{ readonly id: string }] }
  const items = [{ productId: data[0].id, quantity: 1 }]

  async function load() {
    const key = { ...ada, 'idempotency-key': randomUUID() }
    const orders = await Promise.all([1, 2, 3].map(() => send('POST', '/v2/orders', { items }, key)))
    t.equal(orders[0]?.status, 201, String(orders[0]?.body))
    const order = JSON.parse(orders[0]?.body as string).data.id as string
    const { headers } = await send('GET', `/v2/orders/${order}`, undefined, ada)
    await send('GET', `/v2/orders/${order}`, undefined, { ...ada, 'if-none-match': String(headers.get('etag')) })
    await send('DELETE', `/v2/orders/${order}`, undefined, { ...ada, 'if-match': '"0"' })
    await send('DELETE', `/v2/orders/${order}`, undefined, ada)
    await send('GET', '/v2/orders?after=garbage', undefined, ada)
    await send('POST', '/v2/order-exports', {})
    const operations = [{ id: 'a', method: 'POST', path: '/v2/orders', body: { items } }]
    await send('POST', '/v2/order-batches', { operations }, { ...ada, 'idempotency-key': randomUUID() })
    // More than the limit of credentials allows.
    await Promise.all(
      Array.from({ length: 9 }, () => send('POST', '/v2/tokens', { username: 'nobody@example.com', password: 'wrong-password' }))
    )
    // A client that leaves while it sends its body.
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    const head = `POST /v2/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
    socket.on('error', () => {}).write(head, () => setTimeout(() => socket.destroy(), 50))
  }

  const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => {
      const query = expr.replaceAll('$job', 'orders-service')
      return { title, query: rare.includes(title) ? query : query.replace(' or vector(0)', '') }
    })
  )
  t.ok(queries.length >= 30)
  let missing = queries
  await until(async () => {
    await load()
    const found = await Promise.all(
      missing.map(async ({ title, query }) => (await resultOf(query)).some(({ value }) => !single.includes(title) || Number(value[1]) > 0))
    )
    missing = missing.filter((_, index) => !found[index])
    return missing.length === 0
  }, 2000)
  t.strictSame(missing, [])
  t.strictSame(await resultOf('ALERTS{alertname=~"InstanceDown|NotReady"}'), [])

  service.process.kill('SIGKILL')
  await until(async () => (await resultOf('ALERTS{alertname="InstanceDown"}')).length > 0, 500)
})
