import { startChild } from '@concordat/test-harness/child'
import { proxyOf } from '@concordat/test-harness/proxy'
import { testCounting, testProtection } from '@concordat/test-harness/two-processes'
import t, { type Test } from 'tap'
import { clients, freshPrefix, onServer, server } from './server.ts'

// Most of the time is waiting for news to grow old.
t.jobs = 3

/** A way to the server that can be cut, and processes that use a prefix of their own. */
async function prepared(t: Test, client: string) {
  const prefix = freshPrefix(t)
  const start = (file: string, url: string, ...more: string[]) =>
    startChild(t, new URL(file, import.meta.url), [url, prefix, client, ...more])
  return { start, proxy: await proxyOf(t, server) }
}

for (const client of Object.keys(clients)) {
  t.test(`two processes protect their routes (${client})`, { ...onServer, buffered: true }, async (t) => {
    const { start, proxy } = await prepared(t, client)
    const [here, there] = await Promise.all([start('protected-service.ts', server), start('protected-service.ts', proxy.url)])
    await testProtection(t, { here, there, proxy })
  })

  t.test(`two processes count together (${client})`, { ...onServer, buffered: true }, async (t) => {
    const { start, proxy } = await prepared(t, client)
    const [lenient, strict] = await Promise.all([
      start('counted-service.ts', proxy.url, 'countLocally'),
      start('counted-service.ts', proxy.url, 'refuse')
    ])
    await testCounting(t, { lenient, strict, proxy })
  })
}
