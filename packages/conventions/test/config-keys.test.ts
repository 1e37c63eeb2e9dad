import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSecret } from '@concordat/webhooks'
import { createReceiver } from '@concordat/webhooks/receiver'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import t from 'tap'

const packages = join(import.meta.dirname, '../..')

interface Manifest {
  readonly layer: number | string
  /** What `pnpm check alone` registers the plugin with. */
  readonly alone?: {
    readonly options?: object
    readonly requestMembers?: Readonly<Record<string, string>>
    readonly config?: object
  }
}

/** Starts a server with one plugin of the suite and one route. */
async function start(plugin: FastifyPluginAsync<object>, { alone = {} }: Manifest, serverOptions: object, config: object) {
  const app = Fastify(serverOptions)
  const functions = Object.keys(alone.requestMembers ?? {}).map((option) => [option, () => 'x'])
  await app.register(plugin, { ...alone.options, ...Object.fromEntries(functions) })
  const schema = { response: { 200: { type: 'object', properties: { ok: { type: 'boolean' } } } } }
  app.get('/probe', { config: { ...alone.config, ...config }, schema }, async () => ({ ok: true }))
  await app.ready()
  await app.close()
}

for (const name of readdirSync(packages)) {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as Manifest
  if (manifest.layer !== 2 && name !== 'conventions') continue
  t.test(`${name} alone stops the start for a misspelt key, and for a setting of a plugin that is not registered`, async (t) => {
    const { default: plugin, serverOptions = () => ({}) } = await import(join(packages, name, 'src/index.ts'))
    const begin = (config: object) => start(plugin, manifest, serverOptions(), config)
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
