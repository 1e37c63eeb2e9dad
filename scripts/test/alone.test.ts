import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { manifestFaults, tryAlone } from '../check-alone.ts'
import type { Member } from '../workspace.ts'

const doors = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } }

/** Packs a plugin with this source, and tries it alone. */
async function tryPlugin(t: Test, name: string, source: string, more: object = {}) {
  const manifest: Member['manifest'] & Record<string, unknown> = {
    name: `@concordat/${name}`,
    version: '0.0.0',
    license: 'MIT',
    type: 'module',
    exports: doors,
    publishConfig: { exports: doors },
    files: ['dist'],
    peerDependencies: { fastify: '^5' },
    ...more
  }
  const types = "import type { FastifyPluginAsync } from 'fastify'\ndeclare const plugin: FastifyPluginAsync\nexport default plugin\n"
  const root = t.testdir({ [name]: { 'package.json': JSON.stringify(manifest), dist: { 'index.js': source, 'index.d.ts': types } } })
  execFileSync('npm', ['pack', '--silent', '--pack-destination', root], { cwd: join(root, name) })
  const tarballs = new Map([[manifest.name, join(root, `concordat-${name}-0.0.0.tgz`)]])
  return tryAlone({ folder: `packages/${name}`, floor: 2, manifest }, tarballs, join(root, 'alone'))
}

t.test('a plugin that needs nothing but Fastify passes', async (t) => {
  const source = `export default async function plugin (app, { word }) {
    app.addHook('onRequest', async (request, reply) => { if (word) return reply.code(418).send({}) })
  }
  plugin[Symbol.for('skip-override')] = true`
  t.strictSame(await tryPlugin(t, 'good', source, { alone: { options: { word: 'tea' }, status: 418 } }), [])
})

t.test('a plugin that forgot a dependency, or answers otherwise, does not', async (t) => {
  const [forgot] = await tryPlugin(t, 'forgetful', "import fp from 'fastify-plugin'\nexport default fp(async () => {})")
  t.match(forgot, /Cannot find package 'fastify-plugin'/)
  t.match(await tryPlugin(t, 'open', 'export default async function plugin () {}', { alone: { status: 401 } }), [
    /GET \/probe answered 200 and not 401/
  ])
})

t.test('a manifest that was packed as it stands in the workspace is refused', async (t) => {
  const source: Member['manifest'] = {
    name: '@concordat/x',
    exports: { '.': { '@concordat/source': './src/index.ts', default: './dist/index.js' } },
    publishConfig: { exports: { '.': { default: './dist/index.js' } } },
    dependencies: { '@concordat/links': 'workspace:^' }
  }
  t.strictSame(manifestFaults(source, source), [
    'its exports are not those of publishConfig.exports',
    'its package.json still says @concordat/source',
    'its package.json still says workspace:'
  ])
})
