// Runs the webhook soak test manually, twenty kills at a time. The results are stored in a file, from which the next run continues.
// TEST_DATABASE_URL=… node --conditions=@concordat/source packages/postgres/bench/webhook-soak.ts <postgres|pglite> <file> [kills] [life in ms]
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type WebhookReport, webhookSoak } from '../test/soak/webhook-soak.ts'

const atOnce = 20
const [engine, file = 'webhook-soak.jsonl', kills = '200', life = '3000'] = process.argv.slice(2)
const reports = (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []).map((line) => JSON.parse(line) as WebhookReport)
const killed = () => reports.reduce((sum, report) => sum + report.kills, 0)

while (killed() < Number(kills)) {
  const report = await (engine === 'pglite' ? onPGlite() : onPostgreSQL())
  reports.push(report)
  appendFileSync(file, `${JSON.stringify(report)}\n`)
  console.log(JSON.stringify(report))
}
const names = Object.keys(reports[0] ?? {}) as (keyof WebhookReport)[]
const total = Object.fromEntries(names.map((name) => [name, reports.reduce((sum, report) => sum + report[name], 0)]))
console.log(`| ${names.join(' | ')} |\n| ${names.map((name) => total[name]).join(' | ')} |`)

function load() {
  const schema = `webhook_soak_${randomUUID().slice(0, 8)}`
  return { schema, kills: Math.min(atOnce, Number(kills) - killed()), lifeMs: Number(life) }
}

async function onPGlite() {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-soak-'))
  try {
    return await webhookSoak({ where: join(folder, 'data'), processes: 1, ...load() })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgreSQL() {
  const where = process.env['TEST_DATABASE_URL']
  if (where === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
  const input = { where, processes: 2, ...load() }
  try {
    return await webhookSoak(input)
  } finally {
    const client = new Client({ connectionString: where })
    await client.connect()
    await client.query(`DROP SCHEMA IF EXISTS ${input.schema}, ${input.schema}_queue CASCADE`)
    await client.end()
  }
}
