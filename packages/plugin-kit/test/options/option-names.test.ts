import { describeOptions, nearestName, value } from '@concordat/plugin-kit/options'
import t from 'tap'

const limit = { limit: true, windowSeconds: true } as const
const described = describeOptions('jobs', {
  store: value(),
  addressLimit: value({ names: limit }),
  tiers: value({ names: { '*': limit } }),
  keys: value({ names: [limit] }),
  onError: value()
})

function check(options: object, path?: string) {
  described.read(options, path)
}

function checkPlugin(options: object) {
  described.readPlugin(options)
}

t.test('accepts known names, also with an undefined value, and does not look into values that are not objects', async (t) => {
  for (const options of [
    {},
    { store: undefined, addressLimit: undefined, tiers: undefined, keys: undefined },
    { addressLimit: false, tiers: { one: { limit: 1 }, limits: { windowSeconds: undefined } }, keys: ['a', { limit: 1 }] },
    { store: { anything: 1 }, onError: Object.assign(() => {}, { name2: 1 }) },
    { addressLimit: 'no table', tiers: 1, keys: null }
  ])
    t.doesNotThrow(() => check(options))
})

t.test('throws a TypeError of one line that names the unknown option and the nearest known one', async (t) => {
  const refused: readonly [object, string][] = [
    [{ adressLimit: 1 }, 'jobs: options.adressLimit is unknown. Did you mean options.addressLimit?'],
    [{ ADDRESSLIMIT: 1 }, 'jobs: options.ADDRESSLIMIT is unknown. Did you mean options.addressLimit?'],
    [{ stroe: undefined }, 'jobs: options.stroe is unknown. Did you mean options.store?'],
    [{ database: 1 }, 'jobs: options.database is unknown. Use only store, addressLimit, tiers, keys, onError.'],
    [{ toString: 1 }, 'jobs: options.toString is unknown. Use only store, addressLimit, tiers, keys, onError.'],
    [{ 'on\nerror': 1 }, 'jobs: options["on\\nerror"] is unknown. Did you mean options.onError?'],
    [{ addressLimit: { limits: 1 } }, 'jobs: options.addressLimit.limits is unknown. Did you mean options.addressLimit.limit?'],
    [{ addressLimit: { max: 1 } }, 'jobs: options.addressLimit.max is unknown. Use only limit, windowSeconds.'],
    [{ tiers: { one: {}, two: { limt: 1 } } }, 'jobs: options.tiers.two.limt is unknown. Did you mean options.tiers.two.limit?'],
    [{ tiers: { 'a-b': { limt: 1 } } }, 'jobs: options.tiers["a-b"].limt is unknown. Did you mean options.tiers["a-b"].limit?'],
    [{ tiers: { 2: { limt: 1 } } }, 'jobs: options.tiers[2].limt is unknown. Did you mean options.tiers[2].limit?'],
    [{ keys: ['a', { limt: 1 }] }, 'jobs: options.keys[1].limt is unknown. Did you mean options.keys[1].limit?']
  ]
  for (const [options, message] of refused) t.throws(() => check(options), { name: 'TypeError', message })
})

t.test('an option that no longer exists is unknown, and the message says what replaces it', async (t) => {
  const changed = describeOptions('batch', { paths: value() }, { maxRequestBytes: 'Set bodyLimit of the service.' })
  for (const read of [changed.read, changed.readPlugin])
    t.throws(() => read({ maxRequestBytes: 1 } as object), {
      name: 'TypeError',
      message: 'batch: options.maxRequestBytes is unknown. Set bodyLimit of the service.'
    })
  t.throws(() => describeOptions('batch', {}).read({ size: 1 }), {
    message: 'batch: options.size is unknown. Remove it: there are no options.'
  })
})

t.test('a suggestion does not repeat the route before the path', async (t) => {
  t.throws(() => check({ stor: 1 }, 'POST /orders: config.job'), {
    message: 'jobs: POST /orders: config.job.stor is unknown. Did you mean config.job.store?'
  })
})

t.test('a plugin also has the options of register, which a message does not list', async (t) => {
  t.doesNotThrow(() => checkPlugin({ prefix: '/v1', logLevel: 'warn', logSerializers: {}, store: {} }))
  t.throws(() => checkPlugin({ prefix: '/v1', unheardOf: 1 }), {
    message: 'jobs: options.unheardOf is unknown. Use only store, addressLimit, tiers, keys, onError.'
  })
  t.throws(() => check({ prefix: '/v1' }), { message: /^jobs: options\.prefix is unknown\./ })
})

t.test('the nearest name has at most two errors, and at most one for each two characters', async (t) => {
  t.equal(nearestName('satus', ['name', 'status']), 'status')
  t.equal(nearestName('statsu', ['status']), 'status', 'a swap is a single error')
  t.equal(nearestName('statxyz', ['status']), undefined)
  t.equal(nearestName('x', ['y']), undefined)
  t.equal(nearestName('aa', ['bb', 'ab', 'aab']), 'ab', 'the first of the nearest')
  t.equal(nearestName('x'.repeat(41), ['x'.repeat(41)]), undefined, 'a long name is not compared')
})
