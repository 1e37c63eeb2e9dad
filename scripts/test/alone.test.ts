// In a process of its own: it removes a variable of the environment that other tests need.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { installAlone, manifestFaults, tryAlone } from '../check-alone.ts'
import type { Member } from '../workspace.ts'

// Without this line, pnpm and its children would write coverage files.
delete process.env['NODE_V8_COVERAGE']

const doors = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } }
const types = "import type { FastifyPluginAsync } from 'fastify'\ndeclare const plugin: FastifyPluginAsync\nexport default plugin\n"

const good = plugin(
  'good',
  `export default async function plugin (app, { word }) {
    app.addHook('onRequest', async (request, reply) => { if (word) return reply.code(418).send({}) })
  }
  plugin[Symbol.for('skip-override')] = true`,
  { alone: { options: { word: 'tea' }, status: 418 } }
)
const forgetful = plugin('forgetful', "import fp from 'fastify-plugin'\nexport default fp(async () => {})")
const honest = plugin('honest', "import fp from 'fastify-plugin'\nexport default fp(async () => {})", {
  dependencies: { 'fastify-plugin': '^6' }
})
const open = plugin('open', 'export default async function plugin () {}', { alone: { status: 401 } })
const untyped = plugin('untyped', 'export default async function plugin () {}', {
  exports: { '.': { types: './dist/plugin.d.ts', default: './dist/index.js' } }
})
const plugins = [good, forgetful, honest, open, untyped]

const place = t.testdir({ packed: Object.fromEntries(plugins.map(({ name, files }) => [name, { package: files }])), alone: {} })
const tarballs = new Map(
  plugins.map(({ name, member }) => {
    execFileSync('tar', ['-czf', `${name}.tgz`, '-C', join('packed', name), 'package'], { cwd: place })
    return [member.manifest.name, join(place, `${name}.tgz`)]
  })
)
await installAlone(
  plugins.map(({ member }) => member),
  tarballs,
  join(place, 'alone')
)
const faultsOf = ({ member }: typeof good) => tryAlone(member, tarballs, join(place, 'alone'))

/** Returns a plugin with this source: its manifest and the files that are packed. */
function plugin(name: string, source: string, more: Partial<Member['manifest']> = {}) {
  const manifest: Member['manifest'] = {
    name: `@concordat/${name}`,
    version: '0.0.0',
    exports: doors,
    publishConfig: { exports: more.exports ?? doors },
    peerDependencies: { fastify: '^5' },
    ...more
  }
  const { alone: _, ...published } = manifest
  const text = JSON.stringify({ ...published, license: 'MIT', type: 'module', files: ['dist'] })
  const files = { 'package.json': text, dist: { 'index.js': source, 'index.d.ts': types } }
  return { name, files, member: { folder: `packages/${name}`, layer: 2, manifest } satisfies Member }
}

t.test('a plugin that needs only Fastify passes', async (t) => {
  t.strictSame(await faultsOf(good), [])
})

t.test('a plugin without a required dependency, or with a different response, fails', async (t) => {
  const [forgot] = await faultsOf(forgetful)
  t.match(forgot, /Cannot find package 'fastify-plugin'/)
  // Another package that is installed at the same time declares it.
  t.strictSame(await faultsOf(honest), [])
  t.match(await faultsOf(open), [/GET \/probe responded with 200 instead of 401/])
})

t.test('a plugin whose manifest names a file that is not packed fails', async (t) => {
  t.match(await faultsOf(untyped), [
    /^publint: .*\.types is \.\/dist\/plugin\.d\.ts but the file does not exist/,
    /^attw: .*"resolutionKind":"node16-esm"/,
    /^attw: .*"resolutionKind":"bundler"/
  ])
})

t.test('a manifest that was packed without changes fails', async (t) => {
  const source: Member['manifest'] = {
    name: '@concordat/x',
    exports: { '.': { '@concordat/source': './src/index.ts', default: './dist/index.js' } },
    publishConfig: { exports: { '.': { default: './dist/index.js' } } },
    dependencies: { '@concordat/plugin-kit': 'workspace:^' }
  }
  t.strictSame(manifestFaults(source, source), [
    'its exports differ from publishConfig.exports',
    'its package.json still contains @concordat/source',
    'its package.json still contains workspace:'
  ])
})
