// Packs the packages as they are published: with the address of the repository, without the fields that only this repository reads, and
// with links that work on the page of npm.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { linksOf } from './markdown.ts'
import { must, pnpm } from './run.ts'
import { type Manifest, type Member, type Publishing, readManifest, readMembers, repository } from './workspace.ts'

/** The published file of each package, by package name. */
export type Tarballs = ReadonlyMap<string, string>

/** The fields of a package.json that only this repository reads. */
export const ownFields: readonly string[] = ['layer', 'alone', 'devDependencies']

/** Returns the packages that are published. */
export function publishedMembers(root: string = repository): Member[] {
  return readMembers(root).filter(({ folder, manifest }) => folder.startsWith('packages/') && !manifest.private)
}

/** Returns the package.json of a tarball. Without an address, it does not name the repository. */
export function packedManifest(manifest: Manifest, folder: string, { repository: address, keywords }: Publishing): object {
  const published = Object.fromEntries(Object.entries(manifest).filter(([field]) => !ownFields.includes(field)))
  const { name, ...rest } = published
  return {
    name,
    ...rest,
    keywords: [...new Set([...keywords, ...folder.slice('packages/'.length).split('-')])],
    ...(address !== '' && {
      repository: { type: 'git', url: `git+${address}.git`, directory: folder },
      homepage: `${address}/tree/HEAD/${folder}#readme`,
      bugs: `${address}/issues`
    })
  }
}

/**
 * Returns a README whose relative links lead to the repository, because the page of npm resolves none of them. Without an address, those to packages lead
 * to their pages on npm, and of the others only the text remains.
 */
export function packedReadme(text: string, folder: string, address: string, root: string = repository): string {
  const targets = new Set(linksOf(text).map(({ target }) => target))
  const lines = text.split('\n')
  for (const target of targets) {
    if (/^([a-z][a-z+.-]*:|#)/i.test(target)) continue
    const [path = '', anchor] = target.split('#')
    const page = pageOf(posix.join(folder, path), address, root)
    const url = page && `${page}${anchor === undefined ? '' : `#${anchor}`}`
    for (const [index, line] of lines.entries())
      lines[index] = url
        ? line.replaceAll(`](${target})`, `](${url})`).replaceAll(`]: ${target}`, `]: ${url}`)
        : line.replaceAll(/!?\[([^[\]]*)\]\(([^()\s]*)\)/g, (link, words: string, to: string) => (to === target ? words : link))
  }
  return lines.join('\n')
}

/** Returns the address of a file or folder for readers of npm, if it has one. */
function pageOf(path: string, address: string, root: string) {
  if (address !== '') {
    const kind = /\.(png|svg)$/.test(path) ? 'raw' : statSync(join(root, path)).isDirectory() ? 'tree' : 'blob'
    return `${address}/${kind}/HEAD/${path}`
  }
  const [, folder] = /^(packages\/[\w-]+)(?:\/README\.md|\/)?$/.exec(path) ?? []
  return folder && `https://www.npmjs.com/package/${readManifest(join(root, folder, 'package.json')).name}`
}

/** Packs packages into a folder, as `pnpm build` left them. Returns the tarballs by package name. */
export async function packAll(members: readonly Member[], folder: string): Promise<Map<string, string>> {
  const publishing = readPublishing()
  const filters = members.map(({ manifest }) => `--filter=${manifest.name}`)
  await pnpm(['-r', ...filters, 'pack', '--pack-destination', folder])
  const fileOf = ({ name, version }: Manifest) => join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  for (const member of members) await prepare(fileOf(member.manifest), member.folder, publishing)
  return new Map(members.map(({ manifest }) => [manifest.name, fileOf(manifest)]))
}

/** Replaces the package.json and the README in a tarball. */
async function prepare(tarball: string, folder: string, publishing: Publishing) {
  const place = mkdtempSync(join(tmpdir(), 'concordat-packed-'))
  try {
    await must('tar', ['-xzf', tarball, '-C', place])
    const manifest = join(place, 'package/package.json')
    writeFileSync(manifest, `${JSON.stringify(packedManifest(readManifest(manifest), folder, publishing), null, 2)}\n`)
    const readme = join(place, 'package/README.md')
    if (existsSync(readme)) writeFileSync(readme, packedReadme(readFileSync(readme, 'utf8'), folder, publishing.repository))
    await must('tar', ['-czf', tarball, '-C', place, 'package'])
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** Returns what the package.json of the root says about publishing. */
export function readPublishing(root: string = repository): Publishing {
  const { publishing } = readManifest(join(root, 'package.json'))
  if (publishing === undefined) throw new Error('package.json does not contain publishing: { repository, ownedNames, keywords }.')
  return publishing
}

if (import.meta.main) {
  const folder = join(repository, '.packed')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const file of (await packAll(publishedMembers(), folder)).values()) console.log(file)
}
