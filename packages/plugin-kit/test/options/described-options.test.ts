import {
  callback,
  describeOptions,
  duration,
  flag,
  group,
  headerName,
  instance,
  integer,
  number,
  type OptionsOf,
  oneOf,
  orFalse,
  required,
  value
} from '@concordat/plugin-kit/options'
import t from 'tap'

interface Store {
  add(key: string): number
}

const retryOptions = describeOptions('jobs', { attempts: integer({ default: 3, min: 1 }), factor: number({ default: 1.5, max: 10 }) })
const jobsOptions = describeOptions('jobs', {
  owner: required(callback<(request: string) => string>('returns the owner')),
  onEnd: callback<() => void>('is called at the end'),
  store: instance<Store>(['add'], 'Store with its method add()'),
  maxRows: integer({ max: 10 }),
  waitSeconds: duration({ default: 0.25, min: 0.001, max: 60 }),
  mode: oneOf(['wait', 'refuse'], { default: 'wait' }),
  order: oneOf(['first', 'last'], {}),
  worker: flag({ default: true }),
  isDry: flag(),
  clientHeader: headerName({ default: 'Authorization' }),
  retry: orFalse(group(retryOptions)),
  limits: value<Readonly<Record<string, { readonly max: number }>>>({ default: {}, names: { '*': { max: true } } }),
  note: value<string>()
})
interface JobsOptions extends OptionsOf<typeof jobsOptions> {}
const owner = () => 'ada'

t.test('returns the settings, with defaults and durations in milliseconds', async (t) => {
  t.strictSame(jobsOptions.readPlugin({ owner }), {
    owner,
    onEnd: undefined,
    store: undefined,
    maxRows: undefined,
    waitMs: 250,
    mode: 'wait',
    order: undefined,
    worker: true,
    isDry: false,
    clientHeader: 'Authorization',
    retry: { attempts: 3, factor: 1.5 },
    limits: {},
    note: undefined
  })
})

t.test('returns what was given', async (t) => {
  const store = { add: () => 1 }
  const given: JobsOptions = { owner, store, maxRows: 0, waitSeconds: 1.5, order: 'last', worker: false, retry: { attempts: 9 }, note: 'a' }
  t.match(jobsOptions.read(given), {
    store,
    maxRows: 0,
    waitMs: 1500,
    order: 'last',
    worker: false,
    retry: { attempts: 9, factor: 1.5 },
    note: 'a'
  })
  t.equal(jobsOptions.read({ owner, retry: false }).retry, false)
})

t.test('throws one line that names the plugin, the option and what is allowed', async (t) => {
  const refused: readonly [options: object, message: string][] = [
    [{}, 'jobs: options.owner must be a function that returns the owner, but its type is undefined.'],
    [{ owner: 1 }, 'jobs: options.owner must be a function that returns the owner, but its type is number.'],
    [{ owner, store: {} }, 'jobs: options.store must implement Store with its method add().'],
    [{ owner, store: null }, 'jobs: options.store must implement Store with its method add().'],
    [{ owner, store: 'memory' }, 'jobs: options.store must implement Store with its method add().'],
    [{ owner, maxRows: 11 }, 'jobs: options.maxRows must be an integer from 0 to 10, but is 11.'],
    [{ owner, waitSeconds: 0 }, 'jobs: options.waitSeconds must be a number from 0.001 to 60, but is 0.'],
    [{ owner, mode: 'never' }, 'jobs: options.mode must be "wait" or "refuse", but is "never".'],
    [{ owner, worker: 'no' }, 'jobs: options.worker must be true or false, but is "no".'],
    [{ owner, clientHeader: 'a b' }, 'jobs: options.clientHeader must be the name of a header, but is "a b".'],
    [{ owner, retry: { attempts: 0 } }, 'jobs: options.retry.attempts must be an integer of at least 1, but is 0.'],
    [{ owner, retry: { atempts: 1 } }, 'jobs: options.retry.atempts is unknown. Did you mean options.retry.attempts?'],
    [{ owner, limits: { a: { maks: 1 } } }, 'jobs: options.limits.a.maks is unknown. Did you mean options.limits.a.max?'],
    [{ onwer: owner }, 'jobs: options.onwer is unknown. Did you mean options.owner?'],
    [
      { owner, now: () => 0 },
      'jobs: options.now is unknown. The time is that of Date: in tests, replace Date with testClock of @concordat/testing, or with mock.timers of node:test.'
    ]
  ]
  for (const [options, message] of refused) {
    t.throws(() => jobsOptions.read(options as JobsOptions), { name: 'TypeError', message })
    t.throws(() => jobsOptions.readPlugin(options as JobsOptions), { name: 'TypeError', message })
  }
  t.throws(() => retryOptions.read({ attempts: 0 }, 'POST /orders: config.retry'), {
    message: 'jobs: POST /orders: config.retry.attempts must be an integer of at least 1, but is 0.'
  })
})

t.test('only a plugin has the options of register', async (t) => {
  t.equal(retryOptions.readPlugin({ prefix: '/v1' } as object).attempts, 3)
  t.throws(() => retryOptions.read({ prefix: '/v1' } as object), { message: /options\.prefix is unknown/ })
})
