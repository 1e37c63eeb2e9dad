import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { nodeOptions } from '@concordat/test-harness/child'
import { freshDatabase } from '@concordat/testing'
import t, { type Test } from 'tap'

const { TEST_DATABASE_URL: serverUrl, TEST_REDIS_URL: redisUrl } = process.env
const onServers = { skip: (serverUrl === undefined || redisUrl === undefined) && 'set TEST_DATABASE_URL and TEST_REDIS_URL' }

/** Starts the template itself, with everything that can be chosen. */
function start(t: Test, env: Readonly<Record<string, string>>) {
  const main = fileURLToPath(new URL('../../examples/books-service/src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [...nodeOptions, main], {
    env: { ...process.env, PORT: '0', LOG_LEVEL: 'fatal', REDIS_URL: redisUrl, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]).then(([[code], err]) => ({ code, err }))
  return { child, ended }
}

t.test('the template starts twice on PostgreSQL and Redis, and refuses production with its user for development', onServers, async (t) => {
  const { databaseUrl: DATABASE_URL = '' } = await freshDatabase(t, { serverUrl })
  for (const time of ['first', 'second']) {
    const local = start(t, { DATABASE_URL })
    const [line] = await Promise.race([once(local.child.stdout, 'data'), local.ended.then(({ err }) => [err])])
    const address = /^Books service at (\S+)/.exec(String(line))?.[1]
    t.match(await (await fetch(`${address}/v1/books`)).json(), { data: [] }, time)
    t.match(await (await fetch(`${address}/health/ready`)).json(), { data: { status: 'ok' } }, time)
    local.child.kill('SIGTERM')
    t.strictSame(await local.ended, { code: 0, err: '' }, time)
  }

  const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
  const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }
  const production = start(t, { DATABASE_URL, NODE_ENV: 'production', PUBLIC_URL: 'https://books.example', ...secrets })
  t.match(await production.ended, { code: 1, err: /^Cannot start: This database has the user ada@example\.com of development, .+\n$/ })
})
