// A real Prometheus that scrapes the processes during the run, and the queries of the dashboard that projects get.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@concordat/test-harness/fleet'
import { programPath } from '@concordat/test-harness/own-server'
import { Daemon } from './daemon.ts'

const folderOfProject = fileURLToPath(new URL('../../packages/create-concordat/project/monitoring', import.meta.url))
const job = 'orders-service'

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

export interface Monitoring {
  readonly daemon: Daemon
  readonly queryCount: number
  /** Runs the queries that have not had data yet, and returns those that still have none. */
  collect(): Promise<readonly string[]>
  /** Returns the names of the alerts that fired in the run, with the minutes. */
  alerts(): Promise<readonly string[]>
}

export async function startMonitoring(folder: string, ports: readonly number[], isShort: boolean): Promise<Monitoring | undefined> {
  const program = programPath('prometheus')
  if (program === undefined) return undefined
  const port = await freePort()
  const interval = isShort ? '2s' : '5s'
  const targets = ports.map((one) => `'127.0.0.1:${one}'`).join(', ')
  writeFileSync(
    join(folder, 'prometheus.yml'),
    `global: { scrape_interval: ${interval}, evaluation_interval: ${interval} }
rule_files: [${JSON.stringify(join(folderOfProject, 'alerts.yml'))}]
scrape_configs: [{ job_name: ${job}, static_configs: [{ targets: [${targets}] }] }]
`
  )
  const address = `http://127.0.0.1:${port}`
  const daemon = new Daemon({
    name: 'Prometheus',
    program,
    words: [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`
    ],
    cwd: folder,
    log: join(folder, 'prometheus.log'),
    responds: async () => (await fetch(`${address}/-/ready`)).ok
  })
  await daemon.start()
  const { panels } = JSON.parse(readFileSync(join(folderOfProject, 'grafana/dashboards/service.json'), 'utf8')) as {
    panels: readonly Panel[]
  }
  // The faults cause what is rare, so a zero that a query adds is not data.
  const queries = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, query: expr.replaceAll('$job', job).replace(' or vector(0)', '') }))
  )
  let missing = queries

  async function resultOf(query: string) {
    const response = await fetch(`${address}/api/v1/query?query=${encodeURIComponent(query)}`)
    const { data } = (await response.json()) as {
      data?: { result: readonly { metric: Record<string, string>; value: readonly [number, string] }[] }
    }
    return data?.result ?? []
  }

  return {
    daemon,
    queryCount: queries.length,
    async collect() {
      const results = await Promise.all(
        missing.map(async ({ query }) => (await resultOf(query).catch(() => [])).some(({ value }) => isData(query, value[1])))
      )
      missing = missing.filter((_, index) => !results[index])
      return missing.map(({ title, query }) => `${title}: ${query}`)
    },
    async alerts() {
      const results = await resultOf('count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[1h]))').catch(() => [])
      return results.map(({ metric }) => String(metric['alertname']))
    }
  }
}

// A panel that counts what is rare must have shown more than zero, because the faults cause it.
function isData(query: string, value: string) {
  return query.includes('increase(') ? Number(value) > 0 : value !== 'NaN'
}
