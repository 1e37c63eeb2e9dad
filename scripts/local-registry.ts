// A registry of npm packages on this machine: it serves the packed packages of the workspace and those that are published to it, and redirects to the
// configured registry for all others, so that npm gets them with its own certificates and proxies. What is published to it stays on this machine.
import { exec } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'

export interface LocalRegistry {
  readonly url: string
  close(): void
}

/** Returns the URL of the configured registry, or `undefined` if this machine cannot reach it. npm would retry for many minutes. */
export async function reachableRegistry(): Promise<string | undefined> {
  // In a shell, because npm is a script on Windows.
  const url = (await promisify(exec)('npm config get registry')).stdout.trim().replace(/\/$/, '')
  const responds = fetch(`${url}/fastify`, { method: 'HEAD', signal: AbortSignal.timeout(10_000) })
  return responds.then(({ ok }) => (ok ? url : undefined)).catch(() => undefined)
}

/** Starts the registry for the files of tarballs. `upstream` has all other packages. */
export async function startRegistry(files: readonly string[], upstream: string): Promise<LocalRegistry> {
  const tarballs = new Map(files.map((file) => [basename(file), readFileSync(file)]))
  const packages = new Map([...tarballs].map(([file, bytes]) => [manifestIn(bytes).name, { file, bytes, tag: 'latest' }]))
  const server = createServer(async (request, response) => {
    const { method, url: target = '/', headers } = request
    if (method === 'PUT') {
      const { name, file, bytes, tag } = await published(request)
      tarballs.set(file, bytes)
      packages.set(name, { file, bytes, tag })
      respond(response.writeHead(201), {})
      return
    }
    const found = packages.get(decodeURIComponent(target.slice(1)))
    const tarball = tarballs.get(target.replace('/-/', ''))
    if (tarball !== undefined) response.end(tarball)
    else if (found !== undefined) respond(response, packument(found, `http://${headers.host}/-/${found.file}`))
    else response.writeHead(307, { location: upstream + target }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close().closeAllConnections() }
}

/** Returns what `npm publish` sends: the tarball of one version, and its tag. */
async function published(request: IncomingMessage) {
  const { name, 'dist-tags': tags, _attachments: attachments } = (await json(request)) as Publication
  const [[file, { data }] = ['', { data: '' }]] = Object.entries(attachments)
  return { name, file: basename(file), bytes: Buffer.from(data, 'base64'), tag: Object.keys(tags)[0] ?? '' }
}

interface Publication {
  readonly name: string
  readonly 'dist-tags': Readonly<Record<string, string>>
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>
}

function respond(response: ServerResponse, body: object) {
  response.end(JSON.stringify(body))
}

function packument({ bytes, tag }: { readonly bytes: Buffer; readonly tag: string }, url: string) {
  const manifest = manifestIn(bytes)
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const version = { ...manifest, dist: { tarball: url, integrity } }
  return { name: manifest.name, 'dist-tags': { [tag]: manifest.version }, versions: { [manifest.version]: version } }
}

/** Returns the package.json of a tarball: a tar archive is a sequence of headers of 512 bytes, each followed by its file. */
function manifestIn(tarball: Buffer): { readonly name: string; readonly version: string } {
  const archive = gunzipSync(tarball)
  for (let at = 0; at < archive.length; ) {
    const path = archive.toString('utf8', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8)
    if (path === 'package/package.json') return JSON.parse(archive.toString('utf8', at + 512, at + 512 + size)) as never
    at += 512 + Math.ceil((size || 0) / 512) * 512
  }
  throw new Error('The tarball has no package.json.')
}
