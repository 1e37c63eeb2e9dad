import { randomBytes } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import dns from 'node:dns/promises'
import { EventEmitter } from 'node:events'
import { isIP, type LookupFunction } from 'node:net'
import tls from 'node:tls'
import { type WebhookSender, webhookSender } from '@concordat/webhooks'
import ipaddr from 'ipaddr.js'
import t, { type Test } from 'tap'
import { hostileAddresses, hostileNames, hostileSpellings, hostileUrls } from './hostile-urls.ts'
import { startNameServer } from './name-server.ts'

type SenderOptions = NonNullable<Parameters<typeof webhookSender>[0]>

const randomCount = Number(process.env['TEST_RANDOM_ADDRESSES'] ?? 50_000)
const publicAddresses = Array.from({ length: 1000 }, (_, index) => randomPublic(index % 2 === 0 ? 4 : 16))

type UrlRule = NonNullable<ReturnType<WebhookSender['guard']['refusalOf']>>

/** What a connection was opened to, without the network. */
interface Target {
  readonly addresses: readonly string[]
  readonly host: string
  readonly port: number
}

interface Network {
  /** The addresses of a host in the DNS. */
  readonly resolve?: (host: string) => readonly string[] | Promise<readonly string[]>
  /** The remote address of an open connection, by default the first of those that it may use. */
  readonly remoteAddress?: (target: Target) => string | undefined
}

/** Returns a guard that does not reach the network, and the targets that it would have connected to. */
function watchedGuard(t: Test, { resolve, remoteAddress = ({ addresses: [first] }) => first }: Network, options: SenderOptions = {}) {
  const targets: Target[] = []
  const sockets: { destroyed: boolean }[] = []
  if (resolve !== undefined) {
    const found = async (host: string, version: number) => (await resolve(host)).filter((address) => isIP(address) === version)
    t.intercept(dns, 'resolve4', { value: async (host: string) => found(host, 4) })
    t.intercept(dns, 'resolve6', { value: async (host: string) => found(host, 6) })
  }
  t.intercept(tls, 'connect', {
    value({ host, port, lookup }: { host: string; port: number; lookup: LookupFunction }) {
      const socket = Object.assign(new EventEmitter(), {
        destroyed: false,
        remoteAddress: undefined as string | undefined,
        setNoDelay() {},
        destroy: () => (socket.destroyed = true)
      })
      sockets.push(socket)
      lookup(host, { all: true }, (_error, addresses) => {
        const target = { addresses: (addresses as LookupAddress[]).map(({ address }) => address), host, port }
        targets.push(target)
        socket.remoteAddress = remoteAddress(target)
        process.nextTick(() => socket.emit('secureConnect'))
      })
      return socket
    }
  })
  return { guard: webhookSender(options).guard, targets, sockets }
}

t.test('refuses every hostile URL by its text alone, without a connection [W5]', async (t) => {
  const urls = [...hostileUrls, ...hostileSpellings.map((host) => `https://${host}/`)]
  const { guard, targets } = watchedGuard(t, { resolve: () => ['93.184.216.34'] })
  const sender = webhookSender()
  const passed: string[] = []
  for (const url of urls) {
    const result = await sender.send({ url, keys: [], id: 'x', body: '{}' })
    if (guard.refusalOf(url) === undefined || result.failure !== 'URL_REFUSED') passed.push(url)
  }
  t.strictSame(passed, [])
  t.equal(targets.length, 0)
  t.ok(new Set(urls).size >= 600, `${new Set(urls).size} URLs`)
})

t.test('refuses a name that resolves to a hostile address, whatever its other addresses are [W5]', async (t) => {
  for (const others of [[], ['93.184.216.34'], ['2606:2800:220:1::1', '93.184.216.34']]) {
    const { guard, targets } = watchedGuard(t, {
      resolve: (host) => [...others, String(hostileAddresses[Number(host.split('.')[0])])]
    })
    for (const [index, address] of hostileAddresses.entries()) {
      await t.rejects(guard.connect(`${index}.example.com`, 443), { code: 'NO_PUBLIC_ADDRESS' }, address)
    }
    t.equal(targets.length, 0)
  }
  t.ok(hostileAddresses.length >= 200, `${hostileAddresses.length} addresses`)
})

t.test('checks an address in place of a name like a DNS result, with and without brackets [W5]', async (t) => {
  const { guard, targets } = watchedGuard(t, { resolve: () => t.fail('an address must not be looked up') as never })
  for (const address of hostileAddresses) {
    await t.rejects(guard.connect(address, 443), { code: 'NO_PUBLIC_ADDRESS' }, address)
    if (address.includes(':')) await t.rejects(guard.connect(`[${address}]`, 443), { code: 'NO_PUBLIC_ADDRESS' }, address)
  }
  t.equal(targets.length, 0)
})

t.test('allows a thousand public addresses and connects to the checked address [W5]', async (t) => {
  const { guard, targets } = watchedGuard(t, { resolve: (host) => [String(publicAddresses[Number(host.split('.')[0])])] })
  for (const index of publicAddresses.keys()) await guard.connect(`${index}.example.com`, 8443)
  t.strictSame(
    targets.map(({ addresses, host, port }) => [...addresses, host, port]),
    publicAddresses.map((address, index) => [address, `${index}.example.com`, 8443])
  )
  for (const address of publicAddresses.slice(0, 20)) await guard.connect(address, 443)
  t.equal(targets.length, 1020)
})

t.test('the guard agrees with ipaddr.js on random addresses, except for unallocated IPv6 [W5]', async (t) => {
  const { guard } = watchedGuard(t, {})
  const disagreements: string[] = []
  for (let count = 0; count < randomCount; count++) {
    const address = randomAddress(count)
    const isHandedOut = address.kind() === 'ipv4' || address.toByteArray()[0]! >> 5 === 1
    const isPublic = isHandedOut && address.range() === 'unicast'
    const isConnected = await guard.connect(address.toString(), 443).then(Boolean, () => false)
    if (isConnected !== isPublic) disagreements.push(`${address.toString()} ${address.range()}`)
  }
  t.strictSame(disagreements, [])
})

t.test('never connects to the private address of ten thousand names that resolve to a public address first [W5]', async (t) => {
  const requested = new Map<string, number>()
  const { guard, targets } = watchedGuard(t, {
    resolve(host) {
      const count = (requested.get(host) ?? 0) + 1
      requested.set(host, count)
      // Each lookup asks for IPv4 and for IPv6.
      return [count <= 2 ? '93.184.216.34' : String(hostileAddresses[Number(host.split('.')[0]) % hostileAddresses.length])]
    }
  })
  let refused = 0
  for (let index = 0; index < 10_000; index++) {
    const host = `${index}.example.com`
    await guard.connect(host, 443)
    await guard.connect(host, 443).catch(({ code }) => (refused += Number(code === 'NO_PUBLIC_ADDRESS')))
  }
  t.equal(refused, 10_000)
  t.ok(
    [...requested.values()].every((count) => count === 4),
    'a name is looked up once per connection'
  )
  t.equal(targets.length, 10_000)
  t.strictSame([...new Set(targets.flatMap(({ addresses }) => addresses))], ['93.184.216.34'])
})

t.test('closes a connection to an address that is not public before it is used [W5]', async (t) => {
  for (const remoteAddress of ['10.0.0.1', '::ffff:10.0.0.1', undefined]) {
    const { guard, sockets } = watchedGuard(t, { resolve: () => ['93.184.216.34'], remoteAddress: () => remoteAddress })
    await t.rejects(guard.connect('example.com', 443), { code: 'NO_PUBLIC_ADDRESS' })
    t.match(sockets, [{ destroyed: true }])
  }
})

t.test('refusalOf returns the rule that a URL breaks [W5]', async (t) => {
  const { guard } = webhookSender()
  const rules: Record<UrlRule, readonly string[]> = {
    urlFormat: [
      '',
      'example.com',
      'https://',
      'https://exa mple.com',
      `https://example.com/${'a'.repeat(2048)}`,
      'https://a.com\\@b.com',
      '\thttps://a.com'
    ],
    urlScheme: ['http://example.com', 'ftp://example.com', 'javascript:alert(1)', 'https:example.com', 'https:///example.com'],
    urlUserinfo: ['https://a@example.com', 'https://a:b@example.com', 'https://@example.com', 'https://:@example.com'],
    urlFragment: ['https://example.com/#', 'https://example.com/#a'],
    urlPort: ['https://example.com:80', 'https://example.com:22', 'https://example.com:0'],
    urlAddress: ['https://93.184.216.34', 'https://[2606:2800:220:1::1]', 'https://10.1', 'https://0x7f000001'],
    urlName: hostileNames.map((name) => `https://${name}/`)
  }
  for (const [rule, urls] of Object.entries(rules)) for (const url of urls) t.equal(guard.refusalOf(url), rule, url)
  t.equal(guard.refusalOf(undefined as never), 'urlFormat')
})

t.test('allows public names on the default ports', async (t) => {
  const { guard } = webhookSender()
  for (const url of [
    'https://example.com',
    'HTTPS://EXAMPLE.com/hooks?team=7',
    'https://hooks.example.co.uk:8443/a@b',
    'https://bücher.example.com/',
    'https://xn--bcher-kva.example.com:443/',
    'https://a_b.example.com/?u=https://x@y'
  ]) {
    t.equal(guard.refusalOf(url), undefined, url)
  }
})

t.test('options.ports sets the allowed ports', async (t) => {
  const { guard } = webhookSender({ ports: [9443] })
  t.equal(guard.refusalOf('https://example.com:9443'), undefined)
  t.equal(guard.refusalOf('https://example.com'), 'urlPort')
})

t.test('dangerouslyAllowLoopback allows only this machine', async (t) => {
  const { guard, targets } = watchedGuard(t, { resolve: () => ['127.0.0.1'] }, { dangerouslyAllowLoopback: true })
  for (const url of ['https://localhost:3001/', 'https://api.localhost', 'https://127.0.0.1:49152', 'https://[::1]:3001'])
    t.equal(guard.refusalOf(url), undefined, url)
  t.equal(guard.refusalOf('http://localhost:3001'), 'urlScheme')
  t.equal(guard.refusalOf('https://10.0.0.1'), 'urlAddress')
  for (const host of ['localhost', 'api.localhost', '127.0.0.1', '[::1]', 'example.com']) await guard.connect(host, 3001)
  t.strictSame(
    targets.map(({ addresses }) => addresses),
    [['127.0.0.1', '::1'], ['127.0.0.1', '::1'], ['127.0.0.1'], ['::1'], ['127.0.0.1']]
  )
  for (const host of ['10.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '0.0.0.0', '::'])
    await t.rejects(guard.connect(host, 443), { code: 'NO_PUBLIC_ADDRESS' }, host)
})

t.test(
  'connect rejects with NO_PUBLIC_ADDRESS for a name without addresses, and with TIMEOUT when the lookup takes too long',
  async (t) => {
    // The timer of the time limit does not keep the process alive.
    const alive = setInterval(() => {}, 1000)
    t.teardown(() => clearInterval(alive))
    await t.rejects(watchedGuard(t, { resolve: () => [] }).guard.connect('example.com', 443), { code: 'NO_PUBLIC_ADDRESS' })
    const never = watchedGuard(t, { resolve: () => new Promise(() => {}) }, { attemptTimeoutSeconds: 0.02 })
    await t.rejects(never.guard.connect('example.com', 443), { code: 'TIMEOUT' })
  }
)

t.test('queries the DNS by default, and not the hosts file [W5]', async (t) => {
  await startNameServer(t, { 'hooks.example.com': ['93.184.216.34', '93.184.216.35'], 'inner.example.com': ['93.184.216.34', '10.0.0.1'] })
  const { guard, targets } = watchedGuard(t, {})
  await guard.connect('hooks.example.com', 443)
  t.strictSame(targets.at(-1)?.addresses, ['93.184.216.34', '93.184.216.35'])
  await t.rejects(guard.connect('inner.example.com', 443), { code: 'NO_PUBLIC_ADDRESS' })
  await t.rejects(guard.connect('nobody.example.com', 443), { code: 'NO_PUBLIC_ADDRESS' })
  await t.rejects(guard.connect('localhost', 443), { code: 'NO_PUBLIC_ADDRESS' })
})

t.test('rejects invalid options', async (t) => {
  t.throws(() => webhookSender({ ports: [] }), /options\.ports must be .*but is \[\]/)
  t.throws(() => webhookSender({ ports: [70_000] }), /options\.ports must be .*but is \[70000\]/)
})

function randomPublic(length: 4 | 16): string {
  for (;;) {
    const bytes = [...randomBytes(length)]
    if (length === 16) bytes[0] = 0x20 | (bytes[0]! & 0x1f)
    const address = ipaddr.fromByteArray(bytes)
    if (address.range() === 'unicast') return address.toString()
  }
}

// One third IPv4, one third IPv6, one third near the special ranges of IPv6.
function randomAddress(count: number) {
  const bytes = [...randomBytes(count % 3 === 0 ? 4 : 16)]
  if (count % 3 === 2) {
    const starts = [
      [0x20, 0x01, bytes[2]! & 0x03],
      [0x20, 0x02],
      [0x20, 0x01, 0x0d, 0xb8],
      [0x3f, 0xff, bytes[2]! & 0x1f],
      [0x26, 0x20, 0, 0x4f]
    ]
    const start = [...starts, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], [0, 0x64, 0xff, 0x9b]][bytes[15]! % 7]!
    bytes.splice(0, start.length, ...start)
  }
  return ipaddr.fromByteArray(bytes)
}
