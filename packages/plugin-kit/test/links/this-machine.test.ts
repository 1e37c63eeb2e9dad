import { isForwarded, isFromThisMachine, isLoopbackAddress, isLoopbackHost, markForwarded } from '@concordat/plugin-kit/links'
import t from 'tap'

const request = (headers: Readonly<Record<string, string>> = {}, { url = '/', remoteAddress = '127.0.0.1' } = {}) => ({
  socket: { remoteAddress },
  raw: { headers: { host: 'localhost:3000', ...headers }, url }
})

t.test('a loopback host is a name that only this machine has, in the one spelling that clients send', async (t) => {
  const names = ['localhost', 'LOCALHOST', 'shop.localhost', 'a.b.localhost', '127.0.0.1', '127.8.9.10', '127.255.255.255', '[::1]']
  for (const name of names) for (const port of ['', ':', ':80', ':3000', ':65535']) t.equal(isLoopbackHost(name + port), true, name + port)
  const others = [
    '',
    'rebind.attacker.example',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'localhost.',
    '127.0.0.1.',
    'notlocalhost',
    '.localhost',
    'a..localhost',
    'user@localhost',
    'localhost@attacker.example',
    'localhost:80:80',
    'localhost:x',
    'localhost/',
    ' localhost',
    '0x7f000001',
    '0x7f.0.0.1',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '127.1',
    '127.0.1',
    '127.0.0.01',
    '127.0.0.256',
    '0.0.0.0',
    '0',
    '128.0.0.1',
    '10.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::2]',
    '::1',
    '[::1',
    'l\u00f6calhost'
  ]
  for (const name of others) t.equal(isLoopbackHost(name), false, JSON.stringify(name))
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) t.equal(isLoopbackAddress(address), true, address)
  for (const address of [undefined, '', '127.0.0.1.example', '::ffff:10.0.0.1', '10.0.0.1', '::'])
    t.equal(isLoopbackAddress(address), false, String(address))
})

t.test('every host of a request must be one of this machine', async (t) => {
  for (const [headers, more, expected] of [
    [{}, {}, true],
    [{ host: 'attacker.example' }, {}, false],
    [{}, { url: 'http://localhost/x' }, true],
    [{}, { url: 'http://attacker.example/x' }, false],
    [{ host: 'attacker.example' }, { url: 'http://localhost/x' }, false],
    [{ ':authority': 'localhost' }, {}, true],
    [{ ':authority': 'attacker.example' }, {}, false],
    [{}, { remoteAddress: '10.0.0.1' }, false]
  ] as const)
    t.equal(isFromThisMachine(request(headers, more)), expected, JSON.stringify([headers, more]))
  t.equal(isFromThisMachine({ socket: { remoteAddress: '::1' }, raw: { headers: {}, url: '/' } }), false, 'no host')
  t.equal(isFromThisMachine({ raw: { headers: { host: 'localhost' }, url: '/' } }), false, 'no connection')
  t.equal(
    isFromThisMachine(request({ host: 'shop.test' }), (host) => host === 'shop.test'),
    true,
    'a host of its own'
  )
})

t.test('a request that was passed on is marked by a header or by its receiver, and headers of clients do not mark it', async (t) => {
  const clients = [
    'user-agent',
    'accept',
    'origin',
    'referer',
    'authorization',
    'traceparent',
    'x-request-id',
    'x-requested-with',
    'x-api-key'
  ]
  for (const name of [...clients, 'idempotency-key', 'if-match', 'sec-fetch-site', 'viable', 'x-hostname', 'flyer']) {
    t.equal(isForwarded({ headers: { [name]: 'x' } }), false, name)
    t.equal(isFromThisMachine(request({ [name]: 'x' })), true, name)
  }
  const own = request()
  markForwarded(own.raw)
  t.strictSame([isForwarded(own.raw), isFromThisMachine(own)], [true, false])
})
