// Checks that each package works when only Fastify is installed with it: packs every package as `pnpm build` left it, installs each
// tarball in an empty folder, and runs it there on plain Node.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { preset } from './imports-between-layers.ts'
import { pnpm, run } from './run.ts'
import { type Member, readManifest, readMembers, repository } from './workspace.ts'

/** The published file of each package, by package name. */
type Tarballs = ReadonlyMap<string, string>

const probe = join(import.meta.dirname, 'alone-probe.mjs')

/** Returns the errors in a packed package.json, compared with the one in the workspace. */
export function manifestFaults(packed: Member['manifest'], source: Member['manifest']): string[] {
  const text = JSON.stringify(packed)
  const faults: string[] = []
  if (!isDeepStrictEqual(packed.exports, source.publishConfig?.exports)) faults.push('its exports differ from publishConfig.exports')
  for (const word of ['@concordat/source', 'workspace:', 'catalog:']) {
    if (text.includes(`"${word}`)) faults.push(`its package.json still contains ${word}`)
  }
  return faults
}

/**
 * Installs each tarball with only Fastify, in a folder of `place` that has the name of the package's folder. pnpm runs once for all of
 * them, and gives each folder its own lockfile and its own node_modules.
 */
export async function installAlone(members: readonly Member[], tarballs: Tarballs, place: string): Promise<void> {
  const fastify = readManifest(join(repository, 'node_modules/fastify/package.json')).version
  const files = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]))
  for (const { folder, manifest } of members) {
    const dependencies = { [manifest.name]: files[manifest.name], fastify }
    mkdirSync(join(place, basename(folder)))
    writeFileSync(join(place, basename(folder), 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  }
  // Without hoisting, so that a package cannot resolve a dependency that it does not declare.
  const settings = { packages: ['*'], sharedWorkspaceLockfile: false, hoist: false, overrides: files }
  writeFileSync(join(place, 'pnpm-workspace.yaml'), JSON.stringify(settings))
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true }))
  const installed = await pnpm(['install', '--prefer-offline', '--ignore-scripts', '--reporter=append-only'], { cwd: place })
  if (installed.code !== 0) throw new Error(`The packages cannot be installed:\n${installed.output}`)
}

/** Tests a package in the folder of `place` where it is installed. Returns the failures. */
export async function tryAlone({ folder, manifest, layer }: Member, tarballs: Tarballs, place: string): Promise<string[]> {
  const cwd = join(place, basename(folder))
  const installed = join(cwd, 'node_modules', manifest.name)
  const packed = readManifest(join(installed, 'package.json'))
  copyFileSync(probe, join(cwd, 'probe.mjs'))
  const task = {
    name: manifest.name,
    doors: Object.keys(packed.exports ?? {}),
    registers: layer === 2 || manifest.name === preset,
    alone: manifest.alone ?? {},
    optional: Object.keys(manifest.peerDependenciesMeta ?? {})
  }
  const [{ code, output }, packaging] = await Promise.all([
    run(process.execPath, ['probe.mjs', JSON.stringify(task)], { cwd }),
    packagingFaults(readFileSync(tarballs.get(manifest.name) as string))
  ])
  return [
    ...manifestFaults(packed, manifest),
    ...(existsSync(join(installed, 'dist/.tsbuildinfo')) ? ['dist/.tsbuildinfo is packed; add "!dist/.tsbuildinfo*" to files'] : []),
    ...(code === 0 ? [] : [output.trimEnd()]),
    ...packaging
  ]
}

/** Returns what publint and "Are the types wrong?" report for a tarball, except that a package of ES modules cannot be used as CommonJS. */
async function packagingFaults(tarball: Buffer): Promise<string[]> {
  const bytes = new Uint8Array(tarball)
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true, level: 'error' })
  const { types, problems } = { problems: [], ...(await checkPackage(createPackageFromTarballData(bytes))) }
  return [
    ...messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`),
    ...(types ? [] : ['attw: it has no types']),
    ...problems
      .filter((problem) => !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind))
      .map((problem) => `attw: ${problemKindInfo[problem.kind].title}: ${JSON.stringify(problem)}`)
  ]
}

/** Packs every published package. Returns the tarballs by package name. */
export async function packAll(members: readonly Member[], folder: string): Promise<Map<string, string>> {
  const filters = members.map(({ manifest }) => `--filter=${manifest.name}`)
  const packed = await pnpm(['-r', ...filters, 'pack', '--pack-destination', folder])
  if (packed.code !== 0) throw new Error(packed.output)
  const fileOf = ({ name, version }: Member['manifest']) => join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  return new Map(members.map(({ manifest }) => [manifest.name, fileOf(manifest)]))
}

async function main() {
  const members = readMembers(repository).filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private)
  const wanted = process.argv.slice(2)
  const tried = members.filter(({ folder }) => wanted.length === 0 || wanted.includes(basename(folder)))
  const place = mkdtempSync(join(tmpdir(), 'concordat-alone-'))
  let failed = 0
  try {
    const tarballs = await packAll(members, place)
    await installAlone(tried, tarballs, place)
    const waiting = tried.values()
    const worker = async () => {
      for (const member of waiting) {
        const faults = await tryAlone(member, tarballs, place)
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
