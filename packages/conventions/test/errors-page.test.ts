import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions } from '@concordat/conventions'
import { tokenIssuingErrors } from '@concordat/token-issuing'
import Fastify from 'fastify'
import t from 'tap'

const page = readFileSync(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8')

const kit = { issuer: 'https://id.example', audience: 'orders' }

// Packages that a service registers in addition to the preset, or passes to it as stores.
const beside = new Set(['files', 'jobs', 'webhooks', 'postgres'])

const shown = (text: unknown) =>
  String(typeof text === 'object' && text !== null && 'other' in text ? text.other : text).replaceAll(/\{(\w+), \w+\}/g, '{$1}')

t.test('the published page has every code of the catalogue, with its status, meaning, texts and remedy, and no others [X3]', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    versions: { 1: {} },
    authentication: {
      issuers: [ownTokens({ ...kit, keys: testKit(kit).keys })],
      permissions: ['orders:read']
    },
    health: {},
    errorCatalogue: { include: [tokenIssuingErrors] }
  })
  const rows = (page.match(/^\| `.*$/gm) ?? []).map((row) => row.slice(2, -2).split(' | '))
  const published = rows.filter(([, , , , , , , packages]) => !beside.has(packages ?? '')).map((row) => row.slice(0, 7))
  t.strictSame(
    published,
    app.errorCatalogue.entries.map(({ code, statusCode, retry, effect = '', message, remedy }) => [
      `\`${code}\``,
      String(statusCode),
      retry,
      effect,
      shown(message.en),
      shown(message['es']),
      remedy
    ])
  )
  t.ok(published.length > 0)
})
