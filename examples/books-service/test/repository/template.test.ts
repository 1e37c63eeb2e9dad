import { freshDatabase } from '@concordat/testing'
import t from 'tap'
import { startTemplate } from './started-template.ts'

const { TEST_DATABASE_URL: serverUrl, TEST_REDIS_URL: redisUrl } = process.env
const onServers = { skip: (serverUrl === undefined || redisUrl === undefined) && 'set TEST_DATABASE_URL and TEST_REDIS_URL' }

t.test('the template starts twice on PostgreSQL and Redis, and refuses production with its user for development', onServers, async (t) => {
  const { databaseUrl: DATABASE_URL = '' } = await freshDatabase(t, { serverUrl })
  for (const time of ['first', 'second']) {
    const local = startTemplate(t, { DATABASE_URL })
    const address = await local.address()
    t.match(await (await fetch(`${address}/v1/books`)).json(), { data: [] }, time)
    t.match(await (await fetch(`${address}/health/ready`)).json(), { data: { status: 'ok' } }, time)
    local.child.kill('SIGTERM')
    t.strictSame(await local.ended, { code: 0, err: '' }, time)
  }

  const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
  const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }
  const production = startTemplate(t, { DATABASE_URL, NODE_ENV: 'production', PUBLIC_URL: 'https://books.example', ...secrets })
  t.match(await production.ended, { code: 1, err: /^Cannot start: This database has the user ada@example\.com of development, .+\n$/ })
})
