import { readFileSync } from 'node:fs'

type Importer = Pick<ImportMeta, 'resolve'>

/**
 * Returns why an optional peer cannot be used and what to do, or `undefined` if it can be used: `pg 8.12 or a later 8, but it is not installed. Run: npm
 * install pg@8`. `peer` is its name, and the lowest version that is supported if there is one: `pg@8.12`. Later versions of the same major are supported,
 * of the same minor for 0.x. The package.json of a package names no range of such peers, because npm refuses to install it beside any other version,
 * also where the peer is not used. `importer` is `import.meta` of the module that imports the peer.
 */
export function peerFault(peer: string, importer: Importer): string | undefined {
  const [, name = '', lowest] = /^(.+?)(?:@([\d.]+))?$/.exec(peer) ?? []
  const found = versionOf(name, importer)
  if (found === 'unknown' || (found !== undefined && (lowest === undefined || isSupported(found, lowest)))) return undefined
  const line = lowest && lineOf(lowest).join('.')
  const range = line === undefined ? '' : ` ${lowest} or a later ${line}`
  return `${name}${range}, but ${found ?? 'it'} is${found ? '' : ' not'} installed. Run: npm install ${name}${line ? `@${line}` : ''}`
}

/** Requires that optional peers can be used, each as {@link peerFault} takes it. Throws a `TypeError` of one line for the first that cannot. */
export function requirePeers(where: string, peers: readonly string[], importer: Importer): void {
  for (const peer of peers) {
    const fault = peerFault(peer, importer)
    if (fault !== undefined) throw new TypeError(`${where} requires ${fault}`)
  }
}

// The version is `unknown` for a package that is linked, as in a workspace.
function versionOf(name: string, importer: Importer) {
  let file: string
  try {
    file = importer.resolve(name)
  } catch {
    return undefined
  }
  const folder = `/node_modules/${name}/`
  const at = file.lastIndexOf(folder)
  if (at < 0) return 'unknown'
  return String(JSON.parse(readFileSync(new URL(`${file.slice(0, at)}${folder}package.json`), 'utf8')).version)
}

function isSupported(version: string, lowest: string) {
  const [own, low] = [numbersIn(version), numbersIn(lowest)]
  const line = lineOf(lowest)
  if (line.some((number, at) => own[at] !== number)) return false
  const differing = low.findIndex((number, at) => own[at] !== number)
  return differing < 0 || (own[differing] as number) > (low[differing] as number)
}

/** Returns the numbers that stay the same while nothing breaks: the major, or 0 and the minor. */
function lineOf(version: string) {
  const numbers = numbersIn(version)
  return numbers.slice(0, numbers[0] === 0 ? 2 : 1)
}

function numbersIn(version: string) {
  return version.split('.').map((part) => Number.parseInt(part))
}
