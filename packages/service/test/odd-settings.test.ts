import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { addressList, type Environment, readSettings } from '@concordat/service'
import { inEnvironment } from '@concordat/test-harness/environment'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'

// Each kind of setting with all texts that another program reads differently, or that a person writes by mistake.
const newest = 'q8Zk3vN1qXw5tR7yLpM0aQgB2cD4eF6hJ8kL0mN2pQ4='
const former = 'Zk3vN1qXw5tR7yLpM0aQgB2cD4eF6hJ8kL0mN2pQ4q8='
const pem = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----\n'

function folderOf(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'service-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

function read(folder: string, environment: Environment) {
  return readSettings(
    {
      folder: pathToFileURL(`${folder}/`),
      secrets: ['TOKEN_SECRETS'],
      variables: {
        COUNT: Type.Integer({ default: 1 }),
        RATIO: Type.Number({ default: 1 }),
        LEVEL: Type.Union([Type.Literal(16), Type.Literal('high')], { default: 'high' }),
        FLAG: Type.Boolean({ default: false }),
        MODE: Type.Unsafe<'on' | 'off'>({ enum: ['on', 'off'], default: 'on' }),
        NAMES: Type.Array(Type.String({ minLength: 1 }), { default: [] }),
        SIZES: Type.Array(Type.Integer(), { default: [] }),
        SCRAPERS: addressList(['::1'])
      }
    },
    environment
  )
}

// Around a value that is valid, so that nothing else is the reason.
const around = (value: string) => [
  ` ${value}`,
  `${value} `,
  `${value}\r`,
  `${value}\n`,
  `"${value}"`,
  `'${value}'`,
  `\u{FEFF}${value}`,
  `${value};`
]
const notNumbers = [
  '1e3',
  '0x10',
  '0b11',
  '0o17',
  '017',
  '00',
  '+5',
  '-0',
  '5_000',
  '5,000',
  '5s',
  '5 s',
  '.5',
  '5.',
  'Infinity',
  'NaN',
  '１２',
  'true',
  '[]'
]
const integers = [...notNumbers, ...around('5'), '5.5', '9007199254740993', '99999999999999999999']

const refused: Readonly<Record<string, readonly string[]>> = {
  PORT: [...integers, '-1', '65536', 'tcp://10.0.0.1:3000'],
  DRAIN_SECONDS: [...integers, '-1', '301'],
  COUNT: integers,
  RATIO: [...notNumbers, ...around('5')],
  LEVEL: ['0x10', '1.6e1', '016', '16 '],
  SIZES: ['1,0x10', '1e3', '1,,2', '1;2'],
  FLAG: [...around('true'), 'TRUE', 'True', 'yes', 'on', '1', '0', 'null', 'f'],
  MODE: [...around('on'), 'ON', 'true', '1'],
  NODE_ENV: [...around('production'), 'Production', 'prod', 'PRODUCTION'],
  LOG_LEVEL: [...around('info'), 'INFO', 'warning', '30'],
  HOST: [
    ...around('127.0.0.1'),
    '0',
    '1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '127.0.0.1:3000',
    '[::1]',
    'http://127.0.0.1',
    '::1%lo',
    '127.0.0.0/8',
    '*'
  ],
  DATABASE_URL: [...around('postgres://db/orders').filter((odd) => !odd.endsWith(';')), 'db/orders', 'jdbc:postgresql://db/orders'],
  REDIS_URL: [...around('redis://cache').filter((odd) => !odd.endsWith(';')), 'cache:6379'],
  PUBLIC_URL: [
    ...around('https://api.example.com').filter((odd) => !odd.endsWith(';')),
    'https://api.example.com/',
    'https://api.example.com/?a',
    'https://münchen.example',
    'https:\\\\api.example.com',
    '//api.example.com',
    'https://api.example.com,https://other.example'
  ],
  DATA_DIR: [
    ...around('data').filter((odd) => !/[;\n\r\u{FEFF}]/u.test(odd)),
    '~/data',
    '$HOME/data',
    '%APPDATA%\\data',
    ':memory:',
    'memory:',
    'file:///data'
  ],
  TRUST_PROXY: [
    '1',
    '2',
    'true',
    '10.1',
    '010.0.0.1',
    '0x0a.0.0.1',
    '10.0.0.1,',
    ',10.0.0.1',
    '10.0.0.1;10.0.0.2',
    '10.0.0.1 10.0.0.2',
    '10.0.0.0/08',
    '10.0.0.1:80'
  ],
  SCRAPERS: [
    '1',
    'true',
    '10.1',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/08',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1,',
    '10.0.0.1;10.0.0.2',
    '10.0.0.1:80',
    'localhost',
    '"::1"'
  ],
  NAMES: ['a,', ',a', 'a,,b', ' , '],
  TOKEN_SECRETS: [
    `${newest},`,
    `,${newest}`,
    `${newest},,${former}`,
    `"${newest}"`,
    `'${newest},${former}'`,
    `${newest},"${former}"`,
    `${newest};${former}`,
    `${newest} ${former}`,
    `${newest}\n${former}`
  ]
}

t.test('a text that would mean something else is refused, with one line that names the variable', async (t) => {
  const folder = folderOf(t)
  for (const [name, texts] of Object.entries(refused))
    for (const text of texts)
      try {
        read(folder, { [name]: text })
        t.fail(`${name}=${JSON.stringify(text)} is accepted`)
      } catch (error) {
        const { message } = error as Error
        t.match(message, new RegExp(`^${name} (is|has|contains) .+ It must be `), `${name}=${JSON.stringify(text)}: ${message}`)
        t.notOk(message.includes('\n') || message.includes(newest) || message.includes(former), message)
      }
})

t.test('a text that can only mean one thing has this meaning', async (t) => {
  const folder = folderOf(t)
  const variables: readonly (readonly [name: string, text: string, value: unknown])[] = [
    ['COUNT', '-9007199254740991', -9_007_199_254_740_991],
    ['RATIO', '0.50', 0.5],
    ['RATIO', '-1.5', -1.5],
    ['LEVEL', '16', 16],
    ['FLAG', 'true', true],
    ['NAMES', 'a, b ,c d', ['a', 'b', 'c d']],
    ['SIZES', '1, -2', [1, -2]],
    ['SCRAPERS', '10.1.0.0/16, ::1,fd00::/8', ['10.1.0.0/16', '::1', 'fd00::/8']],
    ['SCRAPERS', '', ['::1']]
  ]
  for (const [name, text, value] of variables)
    t.strictSame(read(folder, { [name]: text }).variables[name as 'COUNT'], value, `${name}=${text}`)
  t.equal(read(folder, { PORT: '0' }).port, 0)
  t.equal(read(folder, { HOST: 'localhost' }).host, 'localhost')
  t.strictSame(read(folder, { TRUST_PROXY: ' 127.0.0.0/8 ,::1\n,loopback' }).trustProxy, ['127.0.0.0/8', '::1', 'loopback'])
  for (const list of [`${newest},${former}`, `${newest}, ${former}`, ` ${newest} ,\n\t${former}\n`])
    t.strictSame(read(folder, { TOKEN_SECRETS: list }).secrets.TOKEN_SECRETS, [newest, former], JSON.stringify(list))
  t.strictSame(read(folder, { TOKEN_SECRETS: pem }).secrets.TOKEN_SECRETS, [pem.trim()], 'a key in PEM has line breaks and spaces')
})

t.test('.env has the same meaning for each encoding, line end and quotation, or is refused with its line', async (t) => {
  const folder = folderOf(t)
  const write = (text: string | Uint8Array) => writeFileSync(join(folder, '.env'), text)
  const meant = [
    'COUNT=7',
    'COUNT = 7 # seven',
    'export COUNT="7"',
    "COUNT='7'#seven".replace('#', ' #'),
    '# a comment\n\n  COUNT=`7`',
    'COUNT=\nCOUNT=7'
  ]
  for (const line of meant)
    for (const [begin, end] of [
      ['', ''],
      ['\u{FEFF}', '\n'],
      ['\u{FEFF}', '\r\n'],
      ['MULTI="first\nCOUNT=8\n# third"\n', '\n\n']
    ] as const) {
      write(begin + line.replaceAll('\n', end || '\n') + end)
      t.equal(read(folder, {}).variables.COUNT, 7, JSON.stringify(begin + line + end))
    }
  const odd: readonly (readonly [text: string | Uint8Array, reason: RegExp])[] = [
    ...['COUNT: 7', 'COUNT', '=7', 'COUNT=7#8', 'COUNT=#7', 'COUNT="7', 'COUNT="7"8', "COUNT='7''8'", 'COUNT=7\rPORT=8'].map(
      (line) => [`# S3CRET\n${line}\n`, /^Line 2 of \S+\.env is not NAME=value\. Correct it, /] as const
    ),
    [Buffer.from('COUNT=7', 'utf16le'), /^\S+\.env is not UTF-8\. Save it in this encoding\.$/],
    [Buffer.from('\u{FEFF}COUNT=7', 'utf16le'), /\.env is not UTF-8/],
    [Buffer.from('COUNT=7 # é', 'latin1'), /\.env is not UTF-8/]
  ]
  for (const [text, message] of odd) {
    write(text)
    t.throws(() => read(folder, {}), { message }, JSON.stringify(String(text)))
  }
  rmSync(join(folder, '.env'))
  mkdirSync(join(folder, '.env'))
  t.throws(() => read(folder, {}), { message: /^\S+\.env cannot be read: EISDIR.*\. Make it a file that the service can read\.$/ })
})

t.test('NODE_ENV of .env also counts for the plugins, which read it from the process', async (t) => {
  inEnvironment(t, '')
  const folder = folderOf(t)
  writeFileSync(join(folder, '.env'), `\u{FEFF}NODE_ENV=production\nPUBLIC_URL=https://api.example.com\nTOKEN_SECRETS=${newest}\n`)
  const { environment, isLocal } = read(folder, process.env)
  t.strictSame([environment, isLocal, process.env['NODE_ENV']], ['production', false, 'production'])
  process.env['NODE_ENV'] = 'test'
  t.equal(read(folder, process.env).environment, 'test')
  t.equal(process.env['NODE_ENV'], 'test')
  t.equal(read(folder, {}).environment, 'production')
  t.equal(process.env['NODE_ENV'], 'test', 'an environment of its own changes nothing')
})
