// Bundles the page, and serves it at the origin of the service: what is not a file of the page is passed on. Then no other origin needs access, and
// the option `cors` of the service stays empty.
import { fileURLToPath } from 'node:url'
import proxy from '@fastify/http-proxy'
import statics from '@fastify/static'
import { build } from 'esbuild'
import Fastify, { type FastifyInstance } from 'fastify'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Writes the bundle into a folder. */
export async function bundle(outdir: string): Promise<void> {
  const entryPoints = [folder('../page/main.ts')]
  await build({ entryPoints, outdir, bundle: true, minify: true, format: 'esm', target: 'es2022', conditions: ['@concordat/source'] })
}

/** Starts a server of the page and of the service at this address. */
export async function serve(service: string, port: number): Promise<FastifyInstance> {
  const bundled = folder('../dist/site')
  await bundle(bundled)
  const app = Fastify()
  await app.register(statics, { root: [folder('../site'), bundled] })
  await app.register(proxy, { upstream: service, prefix: '/v2', rewritePrefix: '/v2' })
  await app.listen({ host: '127.0.0.1', port })
  return app
}

if (import.meta.main) {
  const app = await serve(process.env['SERVICE_URL'] ?? 'http://127.0.0.1:3000', Number(process.env['PORT'] ?? 8080))
  console.log(`The page is at ${app.listeningOrigin}`)
}
