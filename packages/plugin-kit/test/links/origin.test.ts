import { authorityOf, hostErrorOf, hostMatcher, hrefOf, linkHeader, originResolver } from '@concordat/plugin-kit/links'
import t from 'tap'

const socket = { localAddress: '127.0.0.1', localPort: 3000 }

t.test('publicUrl takes precedence over the request [K2]', async (t) => {
  const originOf = originResolver({ publicUrl: 'https://api.example.com/shop', allowedHosts: ['other.example'] })
  t.equal(originOf({ protocol: 'http', host: 'other.example', socket }), 'https://api.example.com/shop')
  t.equal(originOf(), 'https://api.example.com/shop')
})

t.test('uses a host in the list in any letter case, and no other host', async (t) => {
  const originOf = originResolver({ allowedHosts: ['API.example.com', 'localhost:8080', '[::1]:8080'] })
  const origin = (host: string, protocol = 'https') => originOf({ protocol, host, socket })
  t.equal(origin('api.EXAMPLE.com'), 'https://api.example.com')
  t.equal(origin('localhost:8080', 'http'), 'http://localhost:8080')
  t.equal(origin('[::1]:8080', 'http'), 'http://[::1]:8080')
  for (const host of ['evil.example', 'api.example.com.evil.example', 'api.example.com:81', 'a<script>', '']) {
    t.equal(origin(host), 'https://api.example.com', 'the first of the list')
  }
  const wildcard = originResolver({ allowedHosts: ['*.example.com'] })
  t.equal(wildcard({ protocol: 'https', host: 'evil.example', socket }), '', 'a relative link')
  const second = originResolver({ allowedHosts: ['*.example.com', 'API.example.org:8443'] })
  t.equal(second({ protocol: 'https', host: 'evil.example', socket }), 'https://api.example.org:8443')
})

t.test('ignores the default port of the protocol, and no other port', async (t) => {
  const match = hostMatcher(['api.example.com', 'old.example.com:443'])
  t.equal(match('API.example.com:443', 'https'), 'api.example.com')
  t.equal(match('api.example.com:80', 'http'), 'api.example.com')
  t.equal(match('api.example.com:443', 'http'), undefined)
  t.equal(match('old.example.com', 'https'), 'old.example.com')
  t.equal(match('old.example.com', 'http'), undefined)
})

t.test('a wildcard matches every direct subdomain, but not the domain itself or deeper subdomains', async (t) => {
  const match = hostMatcher(['*.example.com', '*.example.com:8443', '*.localhost', '*.example.org:443'])
  t.equal(match('Shop-1.example.com', 'https'), 'shop-1.example.com')
  t.equal(match('shop.example.com:8443', 'https'), 'shop.example.com:8443')
  t.equal(match('shop.example.org', 'https'), 'shop.example.org')
  for (const host of [
    'example.com',
    'a.b.example.com',
    '.example.com',
    '*.example.com',
    'a"b.example.com',
    'user@a.example.com',
    '-a.example.com',
    'shop.example.com:1',
    'shop.example.com.evil.example',
    'evilexample.com',
    'localhost',
    ''
  ])
    t.equal(match(host, 'https'), undefined, host)
  const originOf = originResolver({ allowedHosts: ['*.example.com'] })
  t.equal(originOf({ protocol: 'https', host: 'A.example.com:443', socket }), 'https://a.example.com')
})

t.test('without a list, uses the address that the server listens on', async (t) => {
  const originOf = originResolver({})
  const origin = (socket: { localAddress?: string; localPort?: number }) => originOf({ protocol: 'http', host: 'evil.example', socket })
  t.equal(origin({ localAddress: '10.0.0.5', localPort: 80 }), 'http://10.0.0.5:80')
  t.equal(origin({ localAddress: '::1', localPort: 3000 }), 'http://[::1]:3000')
  t.equal(origin({ localAddress: 'fe80::1%eth0', localPort: 3000 }), 'http://[fe80::1]:3000')
  t.equal(origin({}), 'http://localhost')
  t.equal(origin({ localAddress: '10.0.0.5' }), 'http://localhost')
  for (const host of ['', 'a b', 'user@evil.example', ':80'])
    t.equal(originOf({ protocol: 'http', host, socket: { localAddress: '10.0.0.5', localPort: 80 } }), '', `no host: ${host}`)
  t.equal(originOf(), 'http://localhost')
})

t.test('an invalid protocol of a proxy is never used in a link', async (t) => {
  t.equal(originResolver({ allowedHosts: ['a.example'] })({ protocol: 'javascript', host: 'a.example', socket }), 'http://a.example')
})

t.test('throws for an invalid publicUrl', async (t) => {
  for (const publicUrl of [
    '',
    'api.example.com',
    'ftp://api.example.com',
    'https://api.example.com/',
    'https://api.example.com?a=1',
    'https://api.example.com#a',
    'https://user:pass@api.example.com',
    'https:api.example.com',
    ' https://api.example.com',
    'https://api.example.com ',
    'https://api.example.com\n',
    'https://api.\texample.com',
    'https://münchen.example',
    'https://[::1',
    'https:\\\\api.example.com',
    `https://api.example.com/${'a'.repeat(2025)}`
  ]) {
    t.throws(
      () => originResolver({ publicUrl }),
      { name: 'TypeError', message: /^plugin-kit: options\.publicUrl is the invalid URL ".*Use an http or https URL/s },
      publicUrl
    )
  }
})

t.test('throws for an invalid allowed host', async (t) => {
  for (const host of [
    '',
    'https://api.example.com',
    'api.example.com/',
    'user@api.example.com',
    'api.example.com:port',
    '*',
    '*.',
    'api.*.example.com',
    '*.*.example.com',
    'a b'
  ])
    t.throws(
      () => originResolver({ allowedHosts: [host] }),
      { name: 'TypeError', message: /^plugin-kit: options\.allowedHosts contains the invalid host ".*Use a host/s },
      host
    )
})

t.test('hrefOf returns the absolute URL of a path, and an absolute URL unchanged [K2]', async (t) => {
  const origin = 'https://api.example.com'
  t.equal(hrefOf(origin, '/v1/orders/7'), 'https://api.example.com/v1/orders/7')
  t.equal(hrefOf(origin, 'v1/orders/7'), 'https://api.example.com/v1/orders/7')
  t.equal(hrefOf(origin, '//evil.example/a'), 'https://api.example.com//evil.example/a')
  t.equal(hrefOf(origin, 'HTTP://elsewhere.example/a'), 'HTTP://elsewhere.example/a')
  t.equal(hrefOf(origin, 'javascript:alert(1)'), 'https://api.example.com/javascript:alert(1)')
})

t.test('linkHeader returns links as a single Link header field', async (t) => {
  t.equal(
    linkHeader([
      { rel: 'next', href: 'https://a.example/2' },
      { rel: 'successor-version', href: 'https://a.example/v2' }
    ]),
    '<https://a.example/2>; rel="next", <https://a.example/v2>; rel="successor-version"'
  )
  t.equal(linkHeader([]), '')
})

const errorOf = (host: string | undefined, httpVersion = '1.1', url = '/') => hostErrorOf({ headers: { host }, url, httpVersion })

t.test('accepts exactly the hosts that RFC 3986 §3.2 allows, with a port up to 65535', async (t) => {
  for (const host of [
    'a',
    'A.example:',
    'x:65535',
    '1.2.3.4:80',
    '[::1]',
    '[2001:db8::1]:443',
    '[::ffff:1.2.3.4]',
    "a_b.c~!$&'()*+,;=",
    '%C3%A9'
  ])
    t.equal(errorOf(host), undefined, host)
  for (const host of [
    '',
    ' ',
    'a b',
    'a@b',
    'a/b',
    'a?b',
    'a#b',
    'a"b',
    'a\\b',
    '<a>',
    '::1',
    '[::1',
    '[]',
    '[1]',
    '[fe80::1%25eth0]',
    ':80',
    'x:65536',
    'x:-1',
    'x:p',
    '%zz',
    '%4'
  ])
    t.equal(errorOf(host), 'INVALID_HOST', host)
  t.equal(errorOf(undefined), 'MISSING_HOST')
  t.equal(errorOf(undefined, '1.0'), undefined)
  t.equal(errorOf('a', '1.1', 'http://user@a/'), 'INVALID_HOST')
  t.equal(errorOf('a', '1.1', 'http:///'), 'INVALID_HOST')
  t.equal(errorOf('a', '1.1', '*'), undefined)
  t.equal(hostErrorOf({ headers: { ':authority': 'a@b' }, url: '/', httpVersion: '2.0' }), 'INVALID_HOST')
  t.equal(authorityOf('HTTPS://a.example:8443?b=/c'), 'a.example:8443')
  t.equal(authorityOf('/http://a'), undefined)
  t.equal(authorityOf(undefined), undefined)
})

t.test('no URL is longer than what descriptions publish, because a longer one is an error of the service', async (t) => {
  const publicUrl = `https://api.example.com/${'a'.repeat(2024)}`
  t.equal(originResolver({ publicUrl })(), publicUrl)
  const rest = 16_384 - publicUrl.length
  t.equal(hrefOf(publicUrl, `/${'b'.repeat(rest - 1)}`).length, 16_384)
  for (const path of [`/${'b'.repeat(rest)}`, 'b'.repeat(rest), `https://b.example/${'b'.repeat(16_384)}`])
    t.throws(() => hrefOf(publicUrl, path), {
      name: 'TypeError',
      message: /^plugin-kit: the URL ".{100}…" has more than 16384 characters\. Shorten its/
    })
  const host = `${'a.'.repeat(126)}a`
  const allowedHosts = ['*.example.com']
  for (const length of [259, 260]) {
    const sent = `${'a'.repeat(length - '.example.com'.length)}.example.com`
    t.equal(originResolver({ allowedHosts })({ protocol: 'https', host: sent, socket }), length === 259 ? `https://${sent}` : '')
  }
  for (const [name, error] of [
    [host, undefined],
    [`${host}:65535`, undefined],
    [`${host}:655350`, 'INVALID_HOST'],
    ['a'.repeat(260), 'INVALID_HOST']
  ])
    t.equal(hostErrorOf({ headers: { host: name }, httpVersion: '1.1' }), error, `${name?.length} characters`)
})
