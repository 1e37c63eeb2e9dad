import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../../src/app.ts'
import { settings } from '../../src/settings.ts'
import { startChild } from './child.ts'
import { emptyFolder } from './fresh-database.ts'

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }

t.test('unset variables have defaults, and the README names every variable', async (t) => {
  t.match(settings({}), {
    host: '127.0.0.1',
    port: 3000,
    dataFolder: /examples\/orders-service\/data$/,
    publicUrl: 'http://127.0.0.1:3000',
    variables: { RATE_LIMIT: 'on', DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: false, METRICS_SCRAPERS: ['127.0.0.0/8', '::1'], SEED_ORDERS: 830 }
  })
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  const table = readme.slice(readme.indexOf('## Settings'), readme.indexOf('## Files'))
  const described = table.match(/^\| `.+?` \|/gm)?.flatMap((row) => row.match(/[A-Z_]{4,}/g) ?? [])
  const standard = 'HOST PORT DATABASE_URL DATA_DIR REDIS_URL PUBLIC_URL TRUST_PROXY NODE_ENV LOG_LEVEL DRAIN_SECONDS'.split(' ')
  const { variables, secrets } = settings({})
  t.strictSame(described?.toSorted(), [...standard, ...Object.keys(variables), ...Object.keys(secrets)].toSorted())
})

t.test('each variable with a wrong value is named in one line, with the value, and what is allowed', async (t) => {
  for (const [name, value, allowed] of [
    ['RATE_LIMIT', 'none', 'on, or off outside of production'],
    ...['yes', '1', 'TRUE', ' true'].map(
      (odd) => ['DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS', odd, 'false, or true outside of production'] as const
    ),
    ...['-1', '1e3', '0x10', '010', '5 ', '1_000'].map((odd) => ['SEED_ORDERS', odd, 'an integer from 0 to 10000000'] as const),
    ...['1', '10.1', 'localhost', '10.1.0.0/33', '::1,', '10.1.0.5:9090'].map(
      (odd) => ['METRICS_SCRAPERS', odd, 'addresses or networks separated by commas, for example 10.1.0.0/16'] as const
    )
  ] as const)
    t.throws(() => settings({ [name]: value }), { message: `${name} is "${value}". It must be ${allowed}.` })
  t.strictSame(settings({ METRICS_SCRAPERS: '10.1.0.0/16, ::1' }).variables.METRICS_SCRAPERS, ['10.1.0.0/16', '::1'])
  const good = { NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com', ...secrets }
  for (const [name, value] of [
    ['RATE_LIMIT', 'off'],
    ['DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS', 'true']
  ] as const)
    t.throws(() => settings({ ...good, [name]: value }), { message: new RegExp(`^${name} is "${value}" in production\\. It must be `) })
})

t.test('an invalid environment causes a one-line message and exit code 1', async (t) => {
  const { code, out, err } = await startChild(t, { PORT: 'many', LOG_LEVEL: 'loud' }, process.env).ended
  t.equal(code, 1)
  t.equal(out, '')
  t.equal(
    err,
    'Cannot start: PORT is "many". It must be an integer from 0 to 65535; 0 selects a free port. LOG_LEVEL is "loud". It must be one of trace, debug, info, warn, error, fatal, silent.\n'
  )
})

t.test('a database that cannot be opened is an error that names its variable', async (t) => {
  const { dataFolder } = await emptyFolder(t)
  writeFileSync(join(dataFolder, 'notes.txt'), '')
  for (const [variables, message] of [
    [
      { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' },
      /127\.0\.0\.1:1.*\. Check DATABASE_URL: it must be the postgres:\/\/ URL of a database\./
    ],
    [{ DATA_DIR: dataFolder }, /has files but is not a database.*\. Check DATA_DIR: it must be a folder/]
  ] as const)
    await t.rejects(buildApp(settings({ ...variables, LOG_LEVEL: 'silent' })), { message })
})
