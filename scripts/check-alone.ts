// The promise to the user of one package: installed with nothing but Fastify, it works.
// Builds and packs every package, installs each tarball in an empty folder, and runs it there on plain Node.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { preset } from './arrows.ts'
import { pnpm, run } from './run.ts'
import { type Member, readManifest, readMembers, repository } from './workspace.ts'

const template = join(import.meta.dirname, 'alone-probe.mjs')

/** What is wrong with a packed package.json, against the one in the workspace. */
export function manifestFaults(packed: Member['manifest'], source: Member['manifest']): string[] {
  const text = JSON.stringify(packed)
  const faults: string[] = []
  if (!isDeepStrictEqual(packed.exports, source.publishConfig?.exports)) faults.push('its exports are not those of publishConfig.exports')
  for (const word of ['@concordat/source', 'workspace:', 'catalog:']) {
    if (text.includes(`"${word}`)) faults.push(`its package.json still says ${word}`)
  }
  return faults
}

/** Installs one tarball beside Fastify alone and tries it. Answers what failed, or an empty list. */
export async function tryAlone(member: Member, tarballs: ReadonlyMap<string, string>, folder: string): Promise<string[]> {
  const { manifest, floor } = member
  const tarball = tarballs.get(manifest.name)
  if (tarball === undefined) return ['it was not packed']
  mkdirSync(folder, { recursive: true })
  const fastify = readManifest(join(repository, 'node_modules/fastify/package.json')).version
  const dependencies = { [manifest.name]: `file:${tarball}`, fastify }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  const overrides = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]))
  // Without hoisting, so that a package that forgot a dependency can't find it by chance.
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify({ packages: [], hoist: false, overrides }))
  const installed = await pnpm(['install', '--prefer-offline', '--ignore-scripts', '--reporter=append-only'], { cwd: folder })
  if (installed.code !== 0) return [`it can't be installed:\n${installed.output}`]
  const packed = readManifest(join(folder, 'node_modules', manifest.name, 'package.json'))
  writeFileSync(join(folder, 'probe.mjs'), readFileSync(template))
  const registers = floor === 2 || manifest.name === preset
  const task = {
    name: manifest.name,
    doors: Object.keys(packed.exports ?? {}),
    registers,
    alone: manifest.alone ?? {},
    optional: Object.keys(manifest.peerDependenciesMeta ?? {})
  }
  const trials = await Promise.all([
    run(process.execPath, ['probe.mjs', JSON.stringify(task)], { cwd: folder }),
    run('publint', ['run', tarball, '--strict']),
    run('attw', [tarball, '--profile', 'esm-only', '--no-emoji'])
  ])
  const stale = existsSync(join(folder, 'node_modules', manifest.name, 'dist/.tsbuildinfo'))
  return [
    ...manifestFaults(packed, manifest),
    ...(stale ? ['dist/.tsbuildinfo is packed; add "!dist/.tsbuildinfo*" to files'] : []),
    ...trials.filter(({ code }) => code !== 0).map(({ output }) => output.trimEnd())
  ]
}

/** Packs every package that is published, by name. */
export async function packAll(members: readonly Member[], folder: string): Promise<Map<string, string>> {
  const filters = members.map(({ manifest }) => `--filter=${manifest.name}`)
  const packed = await pnpm(['-r', ...filters, 'pack', '--pack-destination', folder])
  if (packed.code !== 0) throw new Error(packed.output)
  const fileOf = ({ name, version }: Member['manifest']) => join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  return new Map(members.map(({ manifest }) => [manifest.name, fileOf(manifest)]))
}

async function main() {
  const members = readMembers(repository).filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private)
  // A file that src no longer has must not be packed because an old build left it.
  for (const { folder } of members) rmSync(join(repository, folder, 'dist'), { recursive: true, force: true })
  const built = await run('tsc', ['-b'])
  if (built.code !== 0) throw new Error(built.output)
  const place = mkdtempSync(join(tmpdir(), 'concordat-alone-'))
  let failed = 0
  try {
    const tarballs = await packAll(members, place)
    const wanted = process.argv.slice(2)
    const waiting = members.filter(({ folder }) => wanted.length === 0 || wanted.includes(basename(folder)))
    const worker = async () => {
      for (let member = waiting.shift(); member; member = waiting.shift()) {
        const faults = await tryAlone(member, tarballs, join(place, basename(member.folder)))
        if (faults.length > 0) failed++
        console.log(`${faults.length > 0 ? '✗' : '✓'} ${member.manifest.name}${faults.map((fault) => `\n${fault}`).join('')}`)
      }
    }
    await Promise.all([worker(), worker()])
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  console.log(failed === 0 ? 'Every package works alone.' : `${failed} packages do not work alone.`)
  if (failed > 0) process.exitCode = 1
}

if (import.meta.main) await main()
