import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { readConfiguration } from '../src/configuration.ts'
import { startChild } from './child.ts'
import { emptyFolder, environmentOf, freshDatabase } from './fresh-database.ts'

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }

t.test('unset variables have defaults, and links use the address that the service listens on', async (t) => {
  t.match(readConfiguration({}), {
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: undefined,
    dataDirectory: /examples\/orders-service\/data$/,
    redisUrl: undefined,
    publicUrl: 'http://127.0.0.1:3000',
    environment: 'development',
    logLevel: 'info',
    seedOrders: 830
  })
  t.equal(readConfiguration({ HOST: '::1', PORT: '8080', DATABASE_URL: '' }).publicUrl, 'http://[::1]:8080')
  t.equal(readConfiguration({ HOST: '0.0.0.0', ...secrets }).publicUrl, undefined)
  t.equal(readConfiguration({ PORT: '0' }).publicUrl, undefined)
})

t.test('each variable with a wrong value is named in one line, with the value unless it is secret, and what is allowed', async (t) => {
  const good = {
    DATABASE_URL: 'postgresql://me@db/orders',
    REDIS_URL: 'rediss://cache:6380',
    PUBLIC_URL: 'https://api.example.com/shop',
    TRUST_PROXY: '10.0.0.0/8, ::1,loopback',
    NODE_ENV: 'production',
    ...secrets,
    CURSOR_SECRETS: `${secret},an older ${secret}`,
    SEED_ORDERS: '1000000'
  }
  t.match(readConfiguration(good), {
    publicUrl: 'https://api.example.com/shop',
    trustProxy: ['10.0.0.0/8', '::1', 'loopback'],
    environment: 'production',
    cursorSecrets: [secret, `an older ${secret}`],
    seedOrders: 1_000_000
  })
  const { dataDirectory } = emptyFolder(t)
  const file = join(dataDirectory, 'a-file')
  writeFileSync(file, '')
  const wrongSecrets = {
    'too short': 'has a secret that has 9 bytes and needs at least 32',
    [`${secret},`]: 'has a secret that has 0 bytes and needs at least 32',
    [`${secret},${'ab'.repeat(20)}`]: 'has a secret that repeats itself',
    'development only: a very long secret!': 'has a secret that consists of words',
    'a-string-secret-at-least-256-bits-long': 'has a secret that is published as an example'
  }
  const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    HOST: { 'two words': 'is "two words"' },
    PORT: { '65536': 'is "65536"', '1.5': 'is "1.5"', many: 'is "many"' },
    DATABASE_URL: {
      'mysql://me:S3CRET@db/orders': 'is invalid',
      'postgres://me:S3CRET@127.0.0.1:99999/orders': 'is invalid',
      'postgres://two words/orders': 'is invalid'
    },
    DATA_DIR: {
      'idb://orders': 'is "idb://orders"',
      'file:///var/orders': 'is "file:///var/orders"',
      [file]: `is "${file}"`,
      [join(file, 'below')]: `is "${join(file, 'below')}"`
    },
    REDIS_URL: { 'redis://:S3CRET@cache:port': 'is invalid', localhost: 'is invalid' },
    PUBLIC_URL: {
      'http://:80': 'is "http://:80"',
      'https://api.example.com/': 'is "https://api.example.com/"',
      'api.example.com': 'is "api.example.com"',
      'https://me:S3CRET@api.example.com': 'is invalid',
      [`https://${'a'.repeat(200)}/`]: `is "https://${'a'.repeat(92)}…"`
    },
    TRUST_PROXY: {
      'a b': 'is "a b"',
      '0.0.0.0/0': 'contains an invalid range on address: 0.0.0.0/0',
      '::/0': 'contains an invalid range on address: ::/0',
      '10.0.0.0/33': 'contains an invalid range on address: 10.0.0.0/33',
      '127.0.0.1/1': 'contains "127.0.0.1/1", a range that includes arbitrary clients',
      '10.0.0.1, 128.0.0.0/1': 'contains "128.0.0.0/1", a range that includes arbitrary clients',
      'proxy.internal': 'contains an invalid IP address: proxy.internal',
      localhost: 'contains an invalid IP address: localhost',
      gateway: 'is "gateway"'
    },
    NODE_ENV: { staging: 'is "staging"' },
    LOG_LEVEL: { loud: 'is "loud"' },
    RATE_LIMIT: { none: 'is "none"' },
    DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: { yes: 'is "yes"' },
    CURSOR_SECRETS: wrongSecrets,
    TOKEN_SECRETS: wrongSecrets,
    REFRESH_SECRETS: wrongSecrets,
    DRAIN_SECONDS: { '301': 'is "301"', soon: 'is "soon"' },
    SEED_ORDERS: { '-1': 'is "-1"' }
  }
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const settings = readme.slice(readme.indexOf('## Settings'), readme.indexOf('## Files'))
  const described = settings.match(/^\| `.+?` \|/gm)?.flatMap((row) => row.match(/[A-Z_]{4,}/g) ?? [])
  t.strictSame(Object.keys(wrong).sort(), described?.sort(), 'every variable of the README')
  for (const [name, values] of Object.entries(wrong)) {
    for (const [value, problem] of Object.entries(values)) {
      try {
        readConfiguration({ ...(name.endsWith('_SECRETS') ? good : {}), [name]: value })
        t.fail(`${name}=${value} is accepted`)
      } catch (error) {
        const { message } = error as Error
        t.ok(message.startsWith(`${name} ${problem}. It must be `) && message.endsWith('.'), `${name}=${value}: ${message}`)
        t.notMatch(message, /\n|S3CRET|very long/)
      }
    }
  }
  for (const name of ['PUBLIC_URL', ...Object.keys(secrets)])
    t.throws(() => readConfiguration({ ...good, [name]: '' }), {
      message: new RegExp(`^${name} is missing\\. It must be .+ required in production`)
    })
  t.throws(() => readConfiguration({ ...good, RATE_LIMIT: 'off' }), { message: /^RATE_LIMIT is "off" in production\. It must be on/ })
  const DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS = 'true'
  t.throws(() => readConfiguration({ ...good, DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS }), {
    message: /^DANGEROUSLY.+ is "true" in production\. It must be/
  })
  t.equal(readConfiguration({ DATA_DIR: join(dataDirectory, 'new', 'folder') }).dataDirectory, join(dataDirectory, 'new', 'folder'))
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

t.test('a place that cannot be opened causes a one-line message that names its variable, and exit code 1', async (t) => {
  const { dataDirectory } = emptyFolder(t)
  const foreign = join(dataDirectory, 'foreign')
  mkdirSync(foreign)
  writeFileSync(join(foreign, 'notes.txt'), '')
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  for (const [variables, message] of [
    [
      { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere' },
      /127\.0\.0\.1:1.*\. Check DATABASE_URL: it must be the postgres:\/\/ URL of a database\./
    ],
    [{ DATA_DIR: foreign }, /has files but is not a database.*\. Check DATA_DIR: it must be a folder/],
    [{ ...environmentOf(await freshDatabase(t)), PORT: String(port) }, /EADDRINUSE.*\. Check HOST: it must be .* Check PORT: it must be/]
  ] as const) {
    const { code, err } = await startChild(t, variables, process.env).ended
    t.equal(code, 1)
    t.match(err, message)
    t.match(err, /^Cannot start: .+\n$/)
  }
})
