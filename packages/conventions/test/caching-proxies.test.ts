// The preset behind real proxies that compress or cache.
import { join } from 'node:path'
import { freePort } from '@concordat/test-harness/fleet'
import t, { type Test } from 'tap'
import { call, credentialsOf, startCachedService } from './cached-service.ts'
import { runProxy } from './proxy-process.ts'

/** Where a service listens, and where the proxy listens for it. */
interface Ports {
  readonly service: number
  readonly proxy: number
}

interface Proxy {
  readonly program: string | undefined
  readonly missing: string
  /** Returns the text of the configuration file; `words` returns the arguments that start the proxy with it in a folder. */
  readonly configuration: (ports: readonly Ports[], folder: string) => string
  readonly words: (ports: readonly Ports[], folder: string) => string[]
  /** A second request for a public resource does not reach the service. */
  readonly caches: boolean
  /** Forwards `If-None-Match` for responses that it does not store. nginx with a cache does not: it sends them in full. */
  readonly revalidates: boolean
}

const nginx = {
  program: process.env['TEST_NGINX'],
  missing: 'set TEST_NGINX to the path of nginx',
  words: (_ports: readonly Ports[], folder: string) => ['-p', folder, '-c', join(folder, 'configuration')]
}
const nginxWith = (http: (folder: string) => string, location: string) => (ports: readonly Ports[], folder: string) =>
  `
  daemon off; master_process off; pid ${folder}/pid; error_log stderr;
  events {}
  http {
    access_log off;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
    uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
    ${http(folder)}
    ${ports
      .map(
        ({ service, proxy }) => `
    server {
      listen 127.0.0.1:${proxy};
      location / {
        proxy_pass http://127.0.0.1:${service};
        proxy_set_header Host shop.example;
        proxy_set_header X-Forwarded-Proto https;
        ${location}
      }
    }`
      )
      .join('')}
  }`

const gzip = 'gzip on; gzip_types application/json; gzip_min_length 0; gzip_proxied any;'
const proxies: Readonly<Record<string, Proxy>> = {
  'nginx that compresses': { ...nginx, configuration: nginxWith(() => gzip, ''), caches: false, revalidates: true },
  'nginx that compresses alone': {
    ...nginx,
    configuration: nginxWith(() => gzip, 'proxy_set_header Accept-Encoding "";'),
    caches: false,
    revalidates: true
  },
  'nginx that caches': {
    ...nginx,
    configuration: nginxWith(
      (folder) => `proxy_cache_path ${folder}/cache keys_zone=all:1m;`,
      'proxy_cache all; proxy_cache_revalidate on; proxy_cache_lock on;'
    ),
    caches: true,
    revalidates: false
  },
  Varnish: {
    program: process.env['TEST_VARNISH'],
    missing: 'set TEST_VARNISH to the path of varnishd',
    configuration: (ports) => `
      vcl 4.1;
      import std;
      ${ports.map(({ service, proxy }) => `backend at_${proxy} { .host = "127.0.0.1"; .port = "${service}"; }`).join('\n')}
      sub vcl_recv {
        set req.http.Host = "shop.example"; set req.http.X-Forwarded-Proto = "https";
        ${ports.map(({ proxy }) => `if (std.port(local.ip) == ${proxy}) { set req.backend_hint = at_${proxy}; }`).join('\n')}
      }
      sub vcl_hash { hash_data(std.port(local.ip)); }
      sub vcl_backend_response { set beresp.grace = 0s; }`,
    words: (ports, folder) => [
      '-F',
      '-j',
      'none',
      '-n',
      folder,
      ...ports.flatMap(({ proxy }) => ['-a', `127.0.0.1:${proxy}`]),
      '-s',
      'malloc,16m',
      '-f',
      join(folder, 'configuration')
    ],
    caches: true,
    revalidates: true
  }
}

/** Starts a service with the defaults, one with lenient tags, and one proxy for both, because Varnish takes seconds to start. */
async function start(t: Test, proxy: Proxy) {
  const usual = await startCachedService(t)
  const lenient = await startCachedService(t, { conditionalCaching: { ifMatch: 'opaque' } })
  const ports = { service: usual.port, proxy: await freePort() }
  const lenientPorts = { service: lenient.port, proxy: await freePort() }
  const both = [ports, lenientPorts]
  await runProxy(t, proxy.program as string, ports.proxy, (folder) => ({
    files: { configuration: proxy.configuration(both, folder) },
    words: proxy.words(both, folder)
  }))
  return { ...ports, lenient: lenientPorts, runs: usual.runs }
}

const codings = [{}, { 'accept-encoding': 'gzip' }, { 'accept-encoding': 'br, gzip' }, { 'accept-encoding': 'identity' }]
const product = { id: 'any', name: 'Chang', description: 'beer' }

for (const [name, proxy] of Object.entries(proxies)) {
  t.test(`behind ${name}`, { skip: proxy.program === undefined && proxy.missing }, async (t) => {
    const { service, proxy: port, lenient, runs } = await start(t, proxy)

    t.test(`behind ${name}, every response has the same status and body as without the proxy, twice [S10] [N7]`, async (t) => {
      const paths = ['/v1/products/large-1', '/v1/products/small-1', '/v1/categories/1', '/v1/products/none', '/v1/profiles/mine', '/none']
      for (const path of paths) {
        for (const headers of codings) {
          for (const method of ['GET', 'HEAD', 'GET']) {
            const [direct, behind] = [await call(service, path, { method, headers }), await call(port, path, { method, headers })]
            t.strictSame([behind.status, behind.body], [direct.status, direct.body], `${method} ${path} ${JSON.stringify(headers)}`)
          }
        }
      }
    })

    t.test(`behind ${name}, a client that has the response gets 304, and after a change the new response [C4] [S10]`, async (t) => {
      for (const path of ['/v1/products/large-2', '/v1/products/small-2']) {
        for (const headers of codings) {
          const first = await call(port, path, { headers })
          const again = await call(port, path, { headers: { ...headers, 'if-none-match': String(first.headers.etag) } })
          t.strictSame(
            [again.status, again.body],
            proxy.revalidates ? [304, ''] : [200, first.body],
            `${path} ${String(first.headers.etag)}`
          )
          t.match(again.headers, { 'cache-control': 'private, no-cache', vary: /accept-encoding/i })
        }
        const { etag } = (await call(port, path)).headers
        await call(port, path, { method: 'PUT', body: product })
        for (const headers of codings) {
          const changed = await call(port, path, { headers: { ...headers, 'if-none-match': String(etag) } })
          t.match(changed, { status: 200, body: /Chang/ })
        }
      }
    })

    t.test(`behind ${name}, serves no 404 after a creation, and no old version after a replacement [C5] [S10]`, async (t) => {
      const path = '/v1/products/new'
      const create = { method: 'PUT', headers: { 'if-none-match': '*' }, body: product }
      for (const attempt of [1, 2]) t.equal((await call(port, path)).status, 404, `attempt ${attempt}`)
      t.strictSame([(await call(port, path, create)).status, (await call(port, path, create)).status], [200, 412])
      t.match(await call(port, path), { status: 200, body: /Chang/ })
      await call(port, path, { method: 'PUT', body: { ...product, name: 'Ipoh' } })
      t.match(await call(port, path), { status: 200, body: /Ipoh/ })
    })

    t.test(`behind ${name}, no user gets the response of another user, although the route is declared public [C3] [S10]`, async (t) => {
      const path = '/v1/profiles/mine'
      const adas = await call(port, path, { headers: credentialsOf('ada') })
      t.match(adas, { status: 200, body: /"subject":"ada"/ })
      const held = { 'if-none-match': String(adas.headers.etag) }
      t.match(await call(port, path, { headers: { ...credentialsOf('max'), ...held } }), { status: 200, body: /"subject":"max"/ })
      const again = await call(port, path, { headers: { ...credentialsOf('ada'), ...held } })
      t.strictSame([again.status, again.body], proxy.revalidates ? [304, ''] : [200, adas.body])
      t.equal((await call(port, path)).status, 401)
    })

    t.test(
      `behind ${name}, every client gets a public response in a coding that it accepts, from the cache if there is one [C3] [S10]`,
      async (t) => {
        const path = '/v1/categories/2'
        const first = await call(port, path)
        t.equal(first.headers['cache-control'], 'public, max-age=86400')
        const again = await call(port, path, { headers: { 'if-none-match': String(first.headers.etag) } })
        t.strictSame([again.status, again.body], [304, ''])
        t.equal(runs.get(`GET ${path}`), proxy.caches ? 1 : 2)
        for (const headers of codings) t.equal((await call(port, path, { headers })).body, first.body)
      }
    )

    t.test(`behind ${name}, the tag of a response that the proxy does not compress protects a change [O1] [S10]`, async (t) => {
      const path = '/v1/products/small-3'
      const { etag } = (await call(port, path, { headers: { 'accept-encoding': 'identity' } })).headers
      t.match(etag, /^"1~[\w-]{11}"$/)
      const change = { method: 'PUT', headers: { 'if-match': String(etag) }, body: product }
      t.equal((await call(port, path, change)).status, 200)
      t.match(await call(port, path, change), { status: 412, headers: { etag: /^"2~[\w-]{11}"$/ } })
      t.match((await call(service, path)).headers.etag, /^"2~[\w-]{11}"$/)
    })

    t.test(`behind ${name}, a weak tag is refused with an explanation, and accepted with ifMatch: opaque [O1] [S10]`, async (t) => {
      for (const path of ['/v1/products/large-4', '/v1/products/small-4']) {
        for (const headers of codings) {
          const { etag = '' } = (await call(port, path, { headers })).headers
          const refused = await call(port, path, { method: 'PUT', headers: { 'if-match': etag }, body: product })
          if (etag.startsWith('W/'))
            t.match(refused, { status: 412, body: /A proxy that compresses responses may have weakened it: fetch/ }, etag)
          else t.equal(refused.status, 200, etag)
          const { etag: known = '' } = (await call(lenient.proxy, path, { headers })).headers
          const taken = await call(lenient.proxy, path, { method: 'PUT', headers: { 'if-match': known }, body: product })
          t.equal(taken.status, 200, known)
        }
      }
    })
  })
}

t.test(
  'behind nginx, a response that the service compresses has a strong tag, a response that nginx compresses does not [C1] [S10]',
  { skip: nginx.program === undefined && nginx.missing },
  async (t) => {
    const { proxy: port } = await start(t, proxies['nginx that compresses'] as Proxy)
    const headers = { 'accept-encoding': 'gzip' }
    t.match((await call(port, '/v1/products/large-1', { headers })).headers.etag, /^"1~[\w-]{11}--gzip"$/)
    t.match((await call(port, '/v1/products/small-1', { headers })).headers, { etag: /^W\/"1~[\w-]{11}"$/, 'content-encoding': 'gzip' })
  }
)
