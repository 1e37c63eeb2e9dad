import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { descriptionDigest } from '@concordat/openapi/diff'
import { movedDate } from '@concordat/test-harness/moved-date'
import t, { type Test } from 'tap'
import { startService } from '../service.ts'

const released = join(import.meta.dirname, '../../released')
const read = (file: string) => JSON.parse(readFileSync(join(released, file), 'utf8'))

async function started(t: Test, options: Parameters<typeof startService>[1]) {
  const { app } = await startService(t, options)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    digestOf: async (version: string) =>
      ((await (await fetch(`${address}/${version}/openapi`)).json()) as { 'x-digest': string })['x-digest'],
    headerOf: async (path: string) => (await fetch(address + path)).headers.get('description-digest')
  }
}

t.test('both versions have one digest at another address, with other limits, and before and after their dates', async (t) => {
  const one = await started(t, { publicUrl: 'https://one.example', rateLimit: 'on' })
  movedDate(t, Date.parse('2026-10-01T00:00:00Z'))
  const other = await started(t, { publicUrl: undefined, rateLimit: 'off' })
  for (const version of ['v1', 'v2']) {
    const digest = await one.digestOf(version)
    t.match(digest, /^sha-256=:/)
    t.equal(await other.digestOf(version), digest, version)
  }
})

t.test('responses of both versions name the digest of their released description', async (t) => {
  const { headerOf } = await started(t, {})
  for (const version of ['v1', 'v2']) {
    const digest = descriptionDigest(read(`${version}.json`))
    t.equal(read('digests.json')[version], digest, 'the stored digest is that of the stored description')
    t.equal(await headerOf(`/${version}/products`), digest)
    t.equal(await headerOf(`/${version}/products/unknown`), digest, 'an error')
  }
  t.equal(await headerOf('/health/live'), null)
})
