/** IPv4 addresses that are not public: the first, the last and one within each range, and addresses that cloud providers use. */
const hostile4 = words(`
  0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.0.0.1 168.63.129.16 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255
  127.0.0.0 127.0.0.1 127.0.1.3 127.127.127.127 127.255.255.255 169.254.0.0 169.254.169.254 169.254.170.2
  169.254.255.255 172.16.0.0 172.17.0.1 172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.1 192.31.196.1
  192.52.193.1 192.88.99.1 192.168.0.0 192.168.1.1 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255
  198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255`)

const hostile6 = words(`
  :: ::1 ::2 fc00:: fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 feff::1 ff00::1 ff02::1 ff05::1:3
  ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 100::1 100:0:0:1::1 64:ff9b:1::1 5f00::1 2001::1 2001:1::1 2001:2::1 2001:3::1
  2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2001:db8::1 2001:db8:ffff::1 2620:4f:8000::1 3fff::1
  3fff:fff:ffff::1 4000::1 8000::1 c000::1 e000::1 200::1 fe80::1%eth0 fe80::1%25eth0 2606:2800:220:1::1%eth0`)

/** Returns the IPv6 addresses that embed an IPv4 address. */
function embedded(address: string): string[] {
  const hex = hexOf(address)
  const [high, low] = [hex.slice(0, 4), hex.slice(4)]
  const inverted = [high, low].map((half) => (0xffff ^ Number.parseInt(half, 16)).toString(16))
  return [
    `::ffff:${address}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `::${address}`,
    `::ffff:0:${address}`,
    `64:ff9b::${address}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:4136:e378:8000:63bf:${inverted.join(':')}`
  ]
}

/** Returns the other spellings of an IPv4 address in a URL. */
function spellings(address: string): string[] {
  const parts = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = parts
  const number = ((a * 256 + b) * 256 + c) * 256 + d
  const letterByLetter = (spell: (sign: string) => string) => Array.from(address, spell).join('')
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hexOf(address)}`,
    `0${number.toString(8)}`,
    parts.map((part) => `0x${part.toString(16)}`).join('.'),
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `000${part.toString(8)}`).join('.'),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    letterByLetter((sign) => (sign === '.' ? '。' : String.fromCharCode(0xff10 + Number(sign)))),
    letterByLetter((sign) => (sign === '.' ? '.' : sign === '0' ? '⓪' : String.fromCharCode(0x245f + Number(sign)))),
    letterByLetter((sign) => `%${sign.charCodeAt(0).toString(16)}`),
    ...embedded(address).map((form) => `[${form}]`)
  ]
}

function hexOf(address: string) {
  return address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
}

function words(text: string) {
  return text.trim().split(/\s+/)
}

/** Addresses as a name server could return them. */
export const hostileAddresses: readonly string[] = [...hostile4, ...hostile6, ...hostile4.flatMap(embedded)]

/** Hosts of URLs that represent these addresses. */
export const hostileSpellings: readonly string[] = [...hostile4.flatMap(spellings), ...hostile6.map((address) => `[${address}]`)]

/** Names that never resolve on the public internet. */
export const hostileNames: readonly string[] = words(`
  localhost LOCALHOST api.localhost localhost. ip6-localhost broadcasthost metadata instance-data router metadata.google.internal
  metadata.google.internal. kubernetes.default.svc.cluster.local printer.local host.docker.internal db.internal wiki.intranet nas.lan
  nas.home hub.home.arpa 1.0.0.127.in-addr.arpa dc.corp mail server.mail vault.private a.test a.example a.invalid a.onion a.alt
  a.localdomain a.domain com com. example.com. -a.example.com a-.example.com ${'a'.repeat(64)}.com ${'a.'.repeat(130)}com a..com
  .example.com exa$mple.com *.example.com`)

/** Other known attacks on such guards. */
export const hostileUrls: readonly string[] = [
  ...words('http ftp file gopher ldap dict ws wss data jar tftp sftp netdoc unix blob view-source').flatMap((scheme) => [
    `${scheme}://example.com/`,
    `${scheme}://127.0.0.1/`,
    `${scheme}:///etc/passwd`,
    `${scheme}:example.com`
  ]),
  ...words(`0 1 21 22 23 25 53 80 110 111 135 139 143 389 444 445 993 2049 2375 2379 3000 3306 5432 5984 6379 6443 8000 8080 8500 9000
    9042 9090 9092 9200 9300 10250 11211 15672 25565 27017 50070 65535`).map((port) => `https://example.com:${port}/`),
  ...['a', 'a:b', '', ':', 'example.org', 'example.org:443', 'example.org%2f', '127.0.0.1', 'https%3A%2F%2Fexample.org', 'ä'].flatMap(
    (user) => [`https://${user}@example.com/`, `https://${user}@127.0.0.1/`, `https://example.org@${user}@[::1]/`]
  ),
  ...['\t', '\n', '\r', '\r\n', ' ', '\u0000', '\u007f', '\u0085', '\u00a0'].flatMap((sign) => [
    `https://exam${sign}ple.com/`,
    `${sign}https://example.com/`,
    `https://example.com/${sign}`,
    `https://example.com/${sign}Host: 127.0.0.1`,
    `ht${sign}tps://127.0.0.1/`
  ]),
  '',
  ...words(String.raw`
    https://example.com\@127.0.0.1/ https://127.0.0.1\@example.com/ https:\\example.com https:/\example.com https://\127.0.0.1
    https:example.com https:/example.com https:///example.com https:////example.com //example.com /hooks hooks ? # https:// https://:443
    https://? https://# https://. https://.. https://%00/ https://%2e/ https://a%2f.com/ https://example.com:443#@127.0.0.1/
    https://example.com# https://example.com/#a https://127.0.0.1#.example.com https://example.com:65536/ https://example.com:-1/
    https://example.com:a/ https://example.com:443:80/ https://example.com:４４/ https://[::1 https://::1/ https://[::1]:22/
    https://[::]/ https://[0000::1]/ https://[::ffff:7f00:1]/ https://[v1.a]/ https://127.1/ https://127.0.1/ https://0/ https://00/
    https://0x0/ https://1/ https://10.1/ https://0x7f.1/ https://017700000001/ https://2130706433/ https://3232235521/
    https://2852039166/ https://425.510.425.510/ https://1.1.1.1.1/ https://256.256.256.256/ https://4294967296/ https://0x100000000/
    https://1.1.1.1 https://8.8.8.8:443 https://[2606:4700::1] https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ https://ｌｏｃａｌｈｏｓｔ/
    https://localhost%00.example.com/ https://LocalHost:443/`),
  'https://loc\u00adalhost/',
  ...hostileNames.flatMap((name) => [`https://${name}/`, `https://${name}:443/latest/meta-data/`, `https://${name.toUpperCase()}/`])
]
