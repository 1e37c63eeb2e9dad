// Checks that each package works when only Fastify is installed with it: packs every package as `pnpm build` left it, installs each
// tarball in an empty folder, and runs it there on plain Node. Also checks how much it installs; `--write` writes that table again.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { problemKindInfo } from '@arethetypeswrong/core/problems'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { excess, type Installed, installedIn, limitOf, readSizes, writeSizes } from './package-sizes.ts'
import { ownFields, packAll, publishedMembers, type Tarballs } from './packed.ts'
import { pnpm, run } from './run.ts'
import { type Member, readManifest, repository } from './workspace.ts'

/** The only package that registers plugins. */
const preset = '@concordat/conventions'
const probe = join(import.meta.dirname, 'alone-probe.mjs')

/** Returns the errors in a packed package.json, compared with the one in the workspace. */
export function manifestFaults(packed: Member['manifest'], source: Member['manifest']): string[] {
  const text = JSON.stringify(packed)
  const faults: string[] = []
  if (!isDeepStrictEqual(packed.exports, source.publishConfig?.exports)) faults.push('its exports differ from publishConfig.exports')
  for (const field of ownFields) if (field in packed) faults.push(`its package.json still contains ${field}`)
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
  await pnpm(['install', '--prefer-offline', '--ignore-scripts', '--reporter=append-only'], { cwd: place })
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
  const types = code === 0 ? await typeErrors(JSON.parse(output.trim().split('\n').at(-1) as string), cwd) : ''
  return [
    ...manifestFaults(packed, manifest),
    ...(existsSync(join(installed, 'dist/.tsbuildinfo')) ? ['dist/.tsbuildinfo is packed; add "!dist/.tsbuildinfo*" to files'] : []),
    ...(code === 0 ? [] : [output.trimEnd()]),
    ...missingTypes(types, task.optional),
    ...packaging
  ]
}

/** Returns the errors of the compiler in a file that imports all types of entry points. */
async function typeErrors(entries: readonly string[], cwd: string) {
  writeFileSync(join(cwd, 'probe.ts'), entries.map((entry, index) => `export type * as entry${index} from '${entry}'\n`).join(''))
  const options = ['--module', 'nodenext', '--target', 'es2024', '--types', '', '--skipLibCheck', 'false']
  return (await run('tsc', ['--noEmit', ...options, 'probe.ts'], { cwd })).output
}

/**
 * Returns the errors about optional peers from elsewhere that types of entry points import which need none of them. An entry point with the name of a peer,
 * or with stores of a package, is for the users of that package.
 */
export function missingTypes(output: string, optional: readonly string[]): string[] {
  return output.split('\n').filter((line) => {
    const [, peer = ''] = /error TS2307: Cannot find module '((?:@[^/']+\/)?[^/']+)/.exec(line) ?? []
    return optional.includes(peer) && !peer.startsWith('@concordat/') && !line.includes(`/dist/${peer}.d.ts`)
  })
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

async function main() {
  const members = publishedMembers()
  const writes = process.argv.includes('--write')
  const wanted = process.argv.slice(2).filter((word) => word !== '--write')
  const tried = members.filter(({ folder }) => wanted.length === 0 || wanted.includes(basename(folder)))
  const place = mkdtempSync(join(tmpdir(), 'concordat-alone-'))
  let failed = 0
  try {
    const tarballs = await packAll(members, place)
    await installAlone(tried, tarballs, place)
    const limits = readSizes(repository)
    const sizes = new Map<string, Installed>()
    const waiting = tried.values()
    const worker = async () => {
      for (const member of waiting) {
        const name = basename(member.folder)
        const size = installedIn(join(place, name))
        sizes.set(name, limitOf(size))
        const faults = [...(await tryAlone(member, tarballs, place)), ...(writes ? [] : excess(name, size, limits))]
        if (faults.length > 0) failed++
        console.log(`${faults.length > 0 ? '✗' : '✓'} ${member.manifest.name}${faults.map((fault) => `\n${fault}`).join('')}`)
      }
    }
    await Promise.all([worker(), worker()])
    const kept = wanted.length === 0 ? [] : limits
    if (writes) writeSizes(repository, new Map([...kept, ...sizes].toSorted(([one], [other]) => (one < other ? -1 : 1))))
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
  console.log(failed === 0 ? 'Every package works alone.' : `${failed} packages do not work alone.`)
  if (failed > 0) process.exitCode = 1
}

if (import.meta.main) await main()
