import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { optionChecks, peerFault, requirePeers } from '@concordat/plugin-kit/options'
import t from 'tap'

const { headerName, integer, number, oneOf, time } = optionChecks('jobs')

t.test('returns values in the range, limits included', async (t) => {
  t.strictSame([integer('options.a', 1, 1, 3), integer('options.a', 3, 1, 3), integer('options.a', 9e9, 0)], [1, 3, 9e9])
  t.strictSame([number('options.a', 0.5, 0.5, 2), number('options.a', 2, 0, 2), number('options.a', 1e300, 0)], [0.5, 2, 1e300])
})

t.test('throws a TypeError that names the plugin, the option, the range and the value', async (t) => {
  const refused: readonly [() => unknown, string][] = [
    [() => integer('options.maxKeys', 0, 1, 3), 'jobs: options.maxKeys must be an integer from 1 to 3, but is 0.'],
    [() => integer('options.maxKeys', 4, 1, 3), 'jobs: options.maxKeys must be an integer from 1 to 3, but is 4.'],
    [() => integer('options.maxKeys', 1.5, 1), 'jobs: options.maxKeys must be an integer of at least 1, but is 1.5.'],
    [() => integer('options.maxKeys', 2 ** 53, 1), 'jobs: options.maxKeys must be an integer of at least 1, but is 9007199254740992.'],
    [() => integer('options.maxKeys', '2', 1, 3), 'jobs: options.maxKeys must be an integer from 1 to 3, but is "2".'],
    [() => number('config.job.seconds', Number.NaN, 0, 1), 'jobs: config.job.seconds must be a number from 0 to 1, but is NaN.'],
    [() => number('config.job.seconds', 1.1, 0, 1), 'jobs: config.job.seconds must be a number from 0 to 1, but is 1.1.'],
    [() => number('config.job.seconds', -0.1, 0), 'jobs: config.job.seconds must be a number of at least 0, but is -0.1.'],
    [() => number('config.job.seconds', undefined, 0), 'jobs: config.job.seconds must be a number of at least 0, but is undefined.'],
    [() => number('config.job.seconds', { secret: 1 }, 0), 'jobs: config.job.seconds must be a number of at least 0, but is an object.'],
    [() => number('config.job.seconds', null, 0), 'jobs: config.job.seconds must be a number of at least 0, but is null.']
  ]
  for (const [run, message] of refused) t.throws(run, { name: 'TypeError', message })
})

t.test('returns the name of a header, and refuses what is none', async (t) => {
  for (const name of ['Authorization', 'x-account', 'X_Account', 'a!#$%&1']) t.equal(headerName('options.clientHeader', name), name)
  for (const [name, shown] of [
    ['X Account', '"X Account"'],
    ['', '""'],
    ['Konto-Nº', '"Konto-Nº"'],
    ['a:b', '"a:b"'],
    [7, '7']
  ] as const)
    t.throws(() => headerName('options.clientHeader', name), {
      name: 'TypeError',
      message: `jobs: options.clientHeader must be the name of a header, but is ${shown}.`
    })
})

t.test('returns one of the choices, and lists them for any other value', async (t) => {
  t.equal(oneOf('options.lint', 'off', ['error', 'off']), 'off')
  t.equal(oneOf('options.lines', 2, [1, 2]), 2)
  t.equal(oneOf('options.page', false, [true, false]), false)
  t.throws(() => oneOf('options.lint', 'of', ['error', 'off']), {
    name: 'TypeError',
    message: 'jobs: options.lint must be "error" or "off", but is "of".'
  })
  const long = 'x'.repeat(41)
  t.throws(() => oneOf('options.lint', long, ['error']), { message: 'jobs: options.lint must be "error", but is a long text.' })
  t.throws(() => oneOf('options.lint', long.slice(1), ['error']), { message: /but is "x{40}"/ })
})

t.test('returns a time that is the same in every time zone, and refuses any other', async (t) => {
  const midnight = Date.UTC(2028, 0, 1)
  for (const value of ['2028-01-01T00:00Z', '2028-01-01T00:00:00.000Z', '2028-01-01T02:30:00+02:30', new Date(midnight)])
    t.equal(time('options.startsAt', value), midnight)
  const refused: readonly [unknown, string][] = [
    ['2028-01-01', '"2028-01-01"'],
    ['2028-01-01T00:00:00', '"2028-01-01T00:00:00"'],
    ['2028-13-01T00:00:00Z', '"2028-13-01T00:00:00Z"'],
    ['', '""'],
    [midnight, '1830297600000'],
    [new Date(Number.NaN), 'Invalid Date'],
    [null, 'null'],
    [{}, 'an object']
  ]
  for (const [value, shown] of refused)
    t.throws(() => time('options.startsAt', value), {
      name: 'TypeError',
      message: `jobs: options.startsAt must be a valid Date or an ISO 8601 date-time with Z or an offset, such as "2028-01-01T00:00:00Z", but is ${shown}.`
    })
})

// What is installed, what is required, and whether it can be used.
const peers: readonly (readonly [installed: string, peer: string, isUsable: boolean])[] = [
  ['8.12.0', 'some-peer', true],
  ['8.12.0', 'some-peer@8.12', true],
  ['8.12.1', 'some-peer@8.12', true],
  ['8.13.0', 'some-peer@8.12.5', true],
  ['8.12.5', 'some-peer@8.12.5', true],
  ['8.12.4', 'some-peer@8.12.5', false],
  ['8.11.9', 'some-peer@8.12', false],
  ['9.13.0', 'some-peer@8.12', false],
  ['7.99.0', 'some-peer@8.12', false],
  ['8.13.0-beta.1', 'some-peer@8.12', true],
  ['0.5.16', 'some-peer@0.5', true],
  ['0.6.0', 'some-peer@0.5', false],
  ['0.4.9', 'some-peer@0.5', false],
  ['1.5.0', 'some-peer@0.5', false]
]

for (const name of ['some-peer', '@scope/some-peer']) {
  t.test(`an optional peer, ${name}, is looked for where it is imported, in a version that is supported`, async (t) => {
    const folder = t.testdir({ node_modules: { [name]: { 'index.js': '', 'package.json': '{}' } } })
    const url = pathToFileURL(`${folder}/node_modules/${name}/`)
    const importer = { resolve: () => `${url.href}index.js` }
    for (const [version, given, isUsable] of peers) {
      const peer = given.replace('some-peer', name)
      writeFileSync(new URL('package.json', url), JSON.stringify({ version }))
      t.equal(peerFault(peer, importer) === undefined, isUsable, `${peer}, ${version}`)
    }
    t.throws(() => requirePeers('jobs: options.store', [name, `${name}@8.12`], importer), {
      name: 'TypeError',
      message: `jobs: options.store requires ${name} 8.12 or a later 8, but 1.5.0 is installed. Run: npm install ${name}@8`
    })
    t.match(peerFault(`${name}@0.5`, importer), ` 0.5 or a later 0.5, but 1.5.0 is installed. Run: npm install ${name}@0.5`)
    t.equal(
      peerFault(`${name}@8.12`, { resolve: () => 'file:///workspace/packages/some-peer/src/index.ts' }),
      undefined,
      'a linked package'
    )

    const missing = {
      resolve() {
        throw new Error('not found')
      }
    }
    t.equal(peerFault(name, missing), `${name}, but it is not installed. Run: npm install ${name}`)
    t.throws(() => requirePeers('jobs: options.store', [`${name}@8.12`], missing), {
      message: `jobs: options.store requires ${name} 8.12 or a later 8, but it is not installed. Run: npm install ${name}@8`
    })
  })
}
