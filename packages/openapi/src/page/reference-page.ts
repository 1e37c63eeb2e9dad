import { peerFault, requirePeers } from '@concordat/plugin-kit/options'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import type { Settings } from '../options.ts'

/** A file of the reference page: its path, media type and text. */
interface ReferencePart {
  readonly path: string
  readonly mediaType: string
  readonly text: () => string | Promise<string>
}

const peer = '@scalar/fastify-api-reference@1.72.1'

/**
 * Returns the path of the page, or false for no page. Without the package of the page, logs a warning where the page is on by default. Throws
 * a `TypeError` of one line where it is required.
 */
export function referencePath({ reference }: Pick<Settings, 'reference'>, log: FastifyBaseLogger): string | false {
  const path = reference ?? (process.env['NODE_ENV'] === 'production' ? false : '/reference')
  if (path === false) return false
  if (!/^\/.*[^/]$/.test(path))
    throw new TypeError(`openapi: options.reference must be a path such as "/reference", or false for no page, but is "${path}".`)
  if (reference !== undefined) requirePeers('openapi: options.reference', [peer], import.meta)
  const fault = peerFault(peer, import.meta)
  if (fault === undefined) return path
  log.warn(`openapi: ${path} has no page. It requires ${fault}, or set options.reference to false.`)
  return false
}

/** Returns the files of the reference page: the page, its start script and Scalar. The service sends all of them, so the page works offline. */
export function referenceParts(path: string, { title, versions }: Settings): readonly ReferencePart[] {
  let script: Promise<string> | undefined
  const supported = () => versions.filter(({ ending }) => ending === undefined || Date.now() < ending.sunsetAt).map(({ name }) => name)
  return [
    { path, mediaType: 'text/html', text: () => pageOf(path, title) },
    { path: `${path}/start.js`, mediaType: 'text/javascript', text: () => startOf(path, supported()) },
    { path: `${path}/scalar.js`, mediaType: 'text/javascript', text: () => (script ??= scalarScript()) }
  ]
}

/** Returns the content security policy of the page: it loads from this service only, and sends requests to no other. Scalar uses inline styles. */
export function referencePolicy(publicUrl: string | undefined): Readonly<Record<string, readonly string[]>> {
  return {
    scriptSrc: ["'self'"],
    styleSrc: ["'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    // Of these two, the default sources are not a limit.
    baseUri: ["'none'"],
    formAction: ["'none'"],
    connectSrc: ["'self'", ...(publicUrl === undefined ? [] : [new URL(publicUrl).origin])]
  }
}

function pageOf(path: string, title: string) {
  const folder = path.split('/').at(-1)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page requires JavaScript. The OpenAPI document of each version is at the path of the version, for example /v1/openapi.</noscript>
    <script src="${folder}/scalar.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`
}

// URLs are relative to the script, so that the page works under any host name and path.
function startOf(path: string, names: readonly string[]) {
  const configuration = {
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    // The page shows another form of the document, so the document itself is a link in the introduction.
    documentDownloadType: 'none',
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'bearer' }
  }
  const up = '../'.repeat(path.split('/').length - 1)
  return `const base = new URL(${JSON.stringify(up)}, document.currentScript.src).href
const sources = ${JSON.stringify(names)}.map((name, index) => ({ title: name, slug: name, url: base + ${JSON.stringify(path.slice(1))} + '/' + name + '.json', default: index === 0 }))
Scalar.createApiReference('#reference', { ...${JSON.stringify(configuration)}, sources, servers: [{ url: base.slice(0, -1) }] })
`
}

// The package makes the script available only through its plugin, so a temporary application requests it once. The package is loaded
// only then, because the start of a service should not wait for a page that few clients open.
async function scalarScript() {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(scalar, { routePrefix: '/reference', configuration: { content: {} } })
  const response = await app.inject('/reference/js/scalar.js')
  await app.close()
  return response.body
}
