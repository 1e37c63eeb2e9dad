import { clientAddress, clientNetwork } from '@concordat/plugin-kit/links'
import t from 'tap'

t.test('an address is the same with and without a port, brackets, a zone, and the prefix of a mapped IPv4 address', async (t) => {
  const written: Readonly<Record<string, readonly string[]>> = {
    '203.0.113.7': [
      '203.0.113.7',
      '203.0.113.7:1',
      '203.0.113.7:65535',
      '::ffff:203.0.113.7',
      '::FFFF:203.0.113.7',
      '[::ffff:203.0.113.7]:443',
      '::ffff:203.0.113.7:5000'
    ],
    '2001:db8::1': ['2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:5000', '2001:db8::1%eth0', '[2001:db8::1%eth0]:5000'],
    '::1': ['::1', '[::1]', '[::1]:80']
  }
  for (const [address, forms] of Object.entries(written)) for (const form of forms) t.equal(clientAddress(form), address, form)
})

t.test('what is not an address is undefined', async (t) => {
  for (const text of [
    undefined,
    '',
    'unknown',
    '_hidden',
    'localhost',
    'localhost:80',
    '203.0.113.7:',
    '203.0.113.7:http',
    '203.0.113.7:123456',
    '203.0.113:80',
    '203.0.113.256',
    '[2001:db8::1',
    '[2001:db8::1]5000',
    '[2001:db8::1]:',
    '2001:db8::g',
    ' 203.0.113.7',
    '/run/service.sock',
    `${'1'.repeat(20_000)}:80`
  ])
    t.equal(clientAddress(text), undefined, String(text))
})

t.test('the network of an address is the address itself, or the /64 of IPv6', async (t) => {
  const networks: Readonly<Record<string, string | undefined>> = {
    '203.0.113.7': '203.0.113.7',
    '203.0.113.7:443': '203.0.113.7',
    '::ffff:203.0.113.7': '203.0.113.7',
    '2001:db8::1': '2001:db8:0:0::/64',
    '2001:DB8:0:0:ffff:ffff:ffff:ffff': '2001:db8:0:0::/64',
    '2001:db8:0:1::1': '2001:db8:0:1::/64',
    '[2001:db8:1:2:3:4:5:6]:443': '2001:db8:1:2::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '::': '0:0:0:0::/64',
    '::1': '0:0:0:0::/64',
    '1::': '1:0:0:0::/64',
    unknown: 'unknown',
    '': 'unknown'
  }
  for (const [address, network] of Object.entries(networks)) t.equal(clientNetwork(address), network, address)
  t.equal(clientNetwork(undefined), 'unknown')
})
