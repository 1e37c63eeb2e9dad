import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readSettings, type Settings } from '@concordat/service'
import { nodeOptions } from '@concordat/test-harness/child'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret }

/** Returns a new, empty folder. */
function folderOf(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'service-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return pathToFileURL(`${folder}/`)
}

/** The settings of a service with two secrets and three further variables. */
function read(t: Test, environment: Readonly<Record<string, string | undefined>>, folder = folderOf(t)) {
  return readSettings(
    {
      folder,
      secrets: ['CURSOR_SECRETS', 'TOKEN_SECRETS'],
      variables: {
        SEED_ORDERS: Type.Integer({ default: 830, minimum: 0, description: 'an integer from 0' }),
        RATE_LIMIT: Type.Union([Type.Literal('on'), Type.Literal('off')], {
          default: 'on',
          description: 'on, or off outside of production'
        }),
        SHOP: Type.Optional(Type.String({ pattern: '^[a-z]+$' }))
      },
      refusedInProduction: { RATE_LIMIT: 'off' }
    },
    environment
  )
}

t.test('unset and empty variables have defaults, and links use the address that the service listens on', async (t) => {
  const folder = folderOf(t)
  const { fromVariables, ...settings } = read(t, { DATABASE_URL: '', HOST: undefined }, folder)
  t.type(fromVariables, 'function')
  const { CURSOR_SECRETS, TOKEN_SECRETS } = settings.secrets
  for (const secrets of [CURSOR_SECRETS, TOKEN_SECRETS]) t.match(secrets, [/^[\w+/]{43}=$/])
  t.notSame(CURSOR_SECRETS, TOKEN_SECRETS)
  t.strictSame(settings, {
    host: '127.0.0.1',
    port: 3000,
    databaseUrl: undefined,
    dataFolder: fileURLToPath(new URL('data', folder)),
    redisUrl: undefined,
    publicUrl: 'http://127.0.0.1:3000',
    allowedHosts: [],
    trustProxy: [],
    environment: 'development',
    isLocal: true,
    logger: { level: 'info' },
    drainSeconds: 0,
    secrets: { CURSOR_SECRETS, TOKEN_SECRETS },
    variables: { SEED_ORDERS: 830, RATE_LIMIT: 'on', SHOP: undefined }
  })
  t.equal(read(t, { HOST: '::1', PORT: '8080' }).publicUrl, 'http://[::1]:8080')
  t.equal(read(t, { HOST: '0.0.0.0', ...secrets }).publicUrl, undefined)
  t.equal(read(t, { PORT: '0' }).publicUrl, undefined)
  t.strictSame(readSettings({ folder: folderOf(t) }, {}).variables, {})
})

t.test('every variable can be set, and .env in the folder sets those that the environment does not', async (t) => {
  const given = {
    DATABASE_URL: 'postgresql://me@db/orders',
    REDIS_URL: 'rediss://cache:6380',
    PUBLIC_URL: 'https://api.example.com/shop',
    TRUST_PROXY: '10.0.0.0/8, ::1,loopback',
    NODE_ENV: 'production',
    ...secrets,
    CURSOR_SECRETS: `${secret},an older ${secret}`,
    LOG_LEVEL: 'warn',
    SEED_ORDERS: '1000000'
  }
  const expected = {
    databaseUrl: 'postgresql://me@db/orders',
    redisUrl: 'rediss://cache:6380',
    publicUrl: 'https://api.example.com/shop',
    allowedHosts: ['api.example.com'],
    trustProxy: ['10.0.0.0/8', '::1', 'loopback'],
    environment: 'production',
    isLocal: false,
    logger: { level: 'warn' },
    drainSeconds: 5,
    secrets: { CURSOR_SECRETS: [secret, `an older ${secret}`], TOKEN_SECRETS: [secret] },
    variables: { SEED_ORDERS: 1_000_000 }
  }
  t.match(read(t, given), expected)
  const folder = fileURLToPath(folderOf(t))
  const lines = Object.entries({ ...given, PORT: 4000, DRAIN_SECONDS: 0 }).map(([name, value]) => `${name}='${value}'`)
  writeFileSync(join(folder, '.env'), lines.join('\n'))
  t.match(readSettings({ folder: pathToFileURL(`${folder}/`), secrets: ['CURSOR_SECRETS'] }, { PORT: '5000' }), {
    databaseUrl: expected.databaseUrl,
    publicUrl: expected.publicUrl,
    port: 5000,
    drainSeconds: 0
  })
  writeFileSync(join(folder, '.env'), 'DATABASE_URL=postgresql://me@db/orders\nREDIS_URL=redis://cache:6379\nthis line is wrong')
  t.match(
    readSettings({ folder: pathToFileURL(`${folder}/`) }, { NODE_ENV: 'test' }),
    { databaseUrl: undefined, redisUrl: undefined, environment: 'test' },
    'a test reads no file of a developer'
  )
})

t.test('each variable with a wrong value is named in one line, with the value unless it is secret, and what is allowed', async (t) => {
  const folder = fileURLToPath(folderOf(t))
  const file = join(folder, 'a-file')
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
      'a b': 'contains an invalid IP address: a b',
      '0.0.0.0/0': 'contains an invalid range on address: 0.0.0.0/0',
      '::/0': 'contains an invalid range on address: ::/0',
      '10.0.0.0/33': 'contains an invalid range on address: 10.0.0.0/33',
      '127.0.0.1/1': 'contains "127.0.0.1/1", a range that includes arbitrary clients',
      '10.0.0.1, 128.0.0.0/1': 'contains "128.0.0.0/1", a range that includes arbitrary clients',
      'proxy.internal': 'contains an invalid IP address: proxy.internal',
      localhost: 'contains an invalid IP address: localhost',
      'gateway,10.0.0.1': "must contain nothing else beside 'gateway'",
      '10.0.0.1, gateway': "must contain nothing else beside 'gateway'"
    },
    NODE_ENV: { staging: 'is "staging"' },
    LOG_LEVEL: { loud: 'is "loud"' },
    DRAIN_SECONDS: { '301': 'is "301"', soon: 'is "soon"' },
    CURSOR_SECRETS: wrongSecrets,
    TOKEN_SECRETS: wrongSecrets,
    SEED_ORDERS: { '-1': 'is "-1"' },
    RATE_LIMIT: { none: 'is "none"' },
    SHOP: { '7': 'is "7"' }
  }
  const good = { NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com', ...secrets }
  for (const [name, values] of Object.entries(wrong)) {
    for (const [value, problem] of Object.entries(values)) {
      const context = name.endsWith('_SECRETS') ? good : {}
      try {
        read(t, { ...context, [name]: value })
        t.fail(`${name}=${value} is accepted`)
      } catch (error) {
        const { message } = error as Error
        t.ok(message.startsWith(`${name} ${problem}. It must be `) && message.endsWith('.'), `${name}=${value}: ${message}`)
        t.notMatch(message, /\n|S3CRET|very long/)
      }
    }
  }
  t.throws(() => read(t, { PORT: 'many', LOG_LEVEL: 'loud' }), {
    message:
      'PORT is "many". It must be an integer from 0 to 65535; 0 selects a free port. LOG_LEVEL is "loud". It must be one of trace, debug, info, warn, error, fatal, silent.'
  })
  const missing = /is missing\. It must be .+ required in production/
  for (const name of ['PUBLIC_URL', ...Object.keys(secrets)]) t.throws(() => read(t, { ...good, [name]: '' }), { message: missing })
  const message = 'RATE_LIMIT is "off" in production. It must be on, or off outside of production.'
  t.throws(() => read(t, { ...good, RATE_LIMIT: 'off' }), { message })
  t.throws(() => readSettings({ folder: folderOf(t), refusedInProduction: { DATABASE_URL: undefined } }, good), {
    message: 'DATABASE_URL is missing in production. It must be the postgres:// URL of a database.'
  })
  t.equal(read(t, { RATE_LIMIT: 'off' }).variables.RATE_LIMIT, 'off')
})

t.test('a data folder that does not exist yet is accepted where it can be created, and so is memory://', async (t) => {
  const fresh = join(fileURLToPath(folderOf(t)), 'new', 'folder')
  t.equal(read(t, { DATA_DIR: fresh }).dataFolder, fresh)
  t.equal(read(t, { DATA_DIR: 'memory://' }).dataFolder, 'memory://')
})

t.test('a data folder that the user may not write to is refused', async (t) => {
  const folder = fileURLToPath(folderOf(t))
  const locked = join(folder, 'locked')
  mkdirSync(locked)
  chmodSync(locked, 0o555)
  chmodSync(folder, 0o755)
  // Root may write everywhere, so the process becomes another user before it reads.
  const program = `import { readSettings } from '@concordat/service'
    try { readSettings({ folder: new URL('file:///tmp/') }, {}) } catch {}
    if (process.getuid() === 0) process.setuid(65534)
    for (const DATA_DIR of ${JSON.stringify([locked, join(locked, 'below')])})
      try { readSettings({ folder: new URL('file:///tmp/') }, { DATA_DIR }) } catch (error) { console.log(error.message) }`
  const out = execFileSync(process.execPath, [...nodeOptions, '--input-type=module', '--eval', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8'
  })
  const expected = 'It must be a folder that the service can write to, or memory://.'
  t.equal(out, `DATA_DIR is "${locked}". ${expected}\nDATA_DIR is "${join(locked, 'below')}". ${expected}\n`)
})

t.test('a service that other machines can reach needs secrets of its own, and is not local', async (t) => {
  const reachable: readonly (readonly [string, Record<string, string>])[] = [
    ['any host', { HOST: '0.0.0.0' }],
    ['any IPv6 host', { HOST: '::' }],
    ['a host name', { HOST: 'shop.example' }],
    ['a proxy on another machine', { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' }],
    ['every machine of some link', { TRUST_PROXY: 'linklocal' }],
    ['the gateway of AWS Lambda', { TRUST_PROXY: 'gateway' }],
    ['IPv6 machines beside this one', { TRUST_PROXY: '::1/127' }]
  ]
  const message =
    /^CURSOR_SECRETS is missing\. It must be .+ TOKEN_SECRETS is missing\. .+required in production, and where HOST or TRUST_PROXY/
  for (const [name, variables] of reachable) {
    t.throws(() => read(t, variables), { message }, name)
    t.equal(read(t, { ...variables, ...secrets }).isLocal, false, name)
  }
  for (const variables of [{}, { HOST: 'localhost' }, { HOST: '::1', TRUST_PROXY: '127.0.0.0/8, 127.0.0.0/9, ::1, ::1/128, loopback' }])
    t.equal(read(t, variables).isLocal, true, JSON.stringify(variables))
})

t.test('the log is readable where the output is a terminal, in development only', async (t) => {
  const { isTTY } = process.stdout
  t.teardown(() => Object.assign(process.stdout, { isTTY }))
  process.stdout.isTTY = true
  t.strictSame(read(t, { LOG_LEVEL: 'debug' }).logger, { level: 'debug', transport: { target: 'pino-pretty' } })
  t.strictSame(read(t, { NODE_ENV: 'test' }).logger, { level: 'info' })
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === 'pino-pretty') throw new Error('not installed')
      return next(specifier, context)
    }
  })
  t.strictSame(read(t, {}).logger, { level: 'info' }, 'without pino-pretty')
  hooks.deregister()
})

t.test('an operation that fails because of variables rejects with their names and one reason', async (t) => {
  const settings: Settings = read(t, {})
  const { fromVariables } = settings
  t.equal(await fromVariables(['HOST'], Promise.resolve('opened')), 'opened')
  const advice = 'Check DATABASE_URL: it must be the postgres:// URL of a database.'
  const none = new AggregateError([new Error('connect ECONNREFUSED ::1:5432'), new Error('connect ECONNREFUSED 127.0.0.1:5432')])
  for (const [thrown, reason] of [
    [new Error('two\n lines.'), 'two lines.'],
    [none, 'connect ECONNREFUSED ::1:5432, connect ECONNREFUSED 127.0.0.1:5432.'],
    ['no error', 'no error.']
  ] as const)
    await t.rejects(fromVariables(['DATABASE_URL'], Promise.reject(thrown)), { message: `${reason} ${advice}` })
  await t.rejects(fromVariables(['OTHER', 'SHOP'], Promise.reject(new Error('down'))), {
    message: 'down. Check OTHER: it must be valid. Check SHOP: it must be valid.'
  })
})

t.test('an unknown option and an invalid schema are errors of the service itself', async (t) => {
  t.throws(() => readSettings({ folder: folderOf(t), secret: [] } as never), {
    message: 'service: options.secret is unknown. Did you mean options.secrets?'
  })
  t.throws(() => readSettings({ folder: folderOf(t), variables: { A: { type: 'wrong' } } }, {}), { message: /schema is invalid/ })
})
