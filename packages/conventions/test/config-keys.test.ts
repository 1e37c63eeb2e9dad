import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '@concordat/webhooks'
import { createReceiver } from '@concordat/webhooks/receiver'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import t from 'tap'

const packages = join(import.meta.dirname, '../..')

/** Options that are functions, or objects with functions. */
type Members = { readonly [option: string]: string | Members }
type Exported = Readonly<Record<string, (options: object) => unknown>>

interface Manifest {
  readonly layer: number | string
  /** What `pnpm check alone` registers the plugin with. */
  readonly alone?: {
    readonly options?: object
    readonly requestMembers?: Members
    readonly lists?: Readonly<Record<string, Readonly<Record<string, object>>>>
    readonly config?: object
  }
}

/** Starts a server with one plugin of the suite and one route. */
async function start(plugin: FastifyPluginAsync<object>, { alone = {} }: Manifest, exported: Exported, config: object) {
  const app = Fastify((exported['serverOptions'] as (() => object) | undefined)?.() ?? {})
  const lists = Object.entries(alone.lists ?? {}).map(([option, makers]) => [
    option,
    Object.entries(makers).map(([maker, options]) => exported[maker]?.(options))
  ])
  await app.register(plugin, { ...alone.options, ...functionsOf(alone.requestMembers ?? {}), ...Object.fromEntries(lists) })
  const schema = { response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } } }
  app.get('/probe', { config: { ...alone.config, ...config }, schema }, async () => ({ ok: true }))
  await app.ready()
  await app.close()
}

function functionsOf(members: Members): object {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, typeof member === 'string' ? () => 'x' : functionsOf(member)])
  )
}

for (const name of readdirSync(packages)) {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as Manifest
  if (manifest.layer !== 2 && name !== 'conventions') continue
  t.test(`${name} alone stops the start for a misspelt key, and for a setting of a plugin that is not registered`, async (t) => {
    const { default: plugin, ...exported } = await import(join(packages, name, 'src/index.ts'))
    const begin = (config: object) => start(plugin, manifest, exported, config)
    await t.resolves(begin({ jobs: 1, transaction: true, otherConfigKeys: ['jobs', 'transaction'] }))
    await t.rejects(begin({ jobs: 1 }), { message: /^jobs: GET \/probe: config\.jobs is unknown\. Did you mean config\.job\?/ })
    await t.rejects(begin({ transaction: true }), { message: /^postgres: (GET|HEAD) \/probe: config\.transaction has no effect/ })
  })
}

t.test('a receiver of webhooks and the unit of work alone stop the start for a misspelt key', async (t) => {
  const { default: unitOfWork } = await import(join(packages, 'postgres/src/unit-of-work/index.ts'))
  const receiver = createReceiver({ keys: [newSecret()], onEvent: () => {} })
  for (const [plugin, options] of [
    [receiver, {}],
    [unitOfWork, { database: { open: () => {} } }]
  ]) {
    const manifest = { layer: 2, alone: { options } }
    await t.resolves(start(plugin, manifest, {}, {}))
    await t.rejects(start(plugin, manifest, {}, { jobs: 1 }), { message: /^jobs: GET \/probe: config\.jobs is unknown/ })
  }
})
