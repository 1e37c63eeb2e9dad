import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { until } from '@concordat/test-harness/until'
import { memoryLoginAttemptStore } from '@concordat/token-issuing'
import t from 'tap'
import { issuing } from './issuing.ts'

const exceeded = { code: 'PASSWORD_RESETS_EXCEEDED', statusCode: 429, headers: { 'cache-control': 'no-store', 'retry-after': '720' } }
const spellings = ['ADA@example.com', ' ada@example.com', 'ada@EXAMPLE.com ', 'ａｄａ@example.com', 'Ada@example.com', 'aDA@example.com']

for (const [who, names] of [
  ['of a user', spellings],
  ['of a name without a user', spellings.map((name) => name.replace(/example/i, 'nowhere'))]
] as const) {
  t.test(`five resets ${who} in an hour are allowed, whatever the spelling, and each is forgiven after twelve minutes`, async (t) => {
    const { issuer, clock } = issuing()
    let begun = 0
    const begin = (name: string) => issuer.beginPasswordReset(name, async () => void (begun += 1))
    for (const name of names.slice(0, 5)) await begin(name)
    await t.rejects(begin(names[5] as string), exceeded)
    await begin('other@example.com')
    clock.now += 720_000
    await begin(names[5] as string)
    await t.rejects(begin(names[0] as string), exceeded)
    await until(() => begun === 7)
  })
}

t.test('a failed sign-in is not a reset, and a reset is not a failed sign-in', async (t) => {
  const { issuer, signIn } = issuing({ attempts: { perAccountAndAddress: { limit: 1 } } })
  for (let reset = 0; reset < 5; reset += 1) await issuer.beginPasswordReset('ada@example.com', async () => {})
  t.ok(await signIn())
  await t.rejects(issuer.checkPassword('max@example.com', 'wrong'), { code: 'INVALID_CREDENTIALS' })
  await issuer.beginPasswordReset('max@example.com', async () => {})
})

t.test('a reset takes the same time for every name: what it does begins afterwards, and its failure is for the log', async (t) => {
  const errors: unknown[] = []
  const { issuer } = issuing({ onError: (error) => errors.push(error) })
  const steps: string[] = []
  const released = Promise.withResolvers<void>()
  await issuer.beginPasswordReset('ada@example.com', async () => {
    steps.push('begun')
    await released.promise
    steps.push('ended')
  })
  t.strictSame(steps, [], 'not even begun')
  await until(() => steps.length === 1)
  released.resolve()
  await until(() => steps.length === 2)
  const [rejected, thrown] = [new Error('no mail'), new Error('not even a promise')]
  await issuer.beginPasswordReset('ada@example.com', () => Promise.reject(rejected))
  await issuer.beginPasswordReset('ada@example.com', () => {
    throw thrown
  })
  await until(() => errors.length === 2)
  t.strictSame(new Set(errors), new Set([rejected, thrown]))
})

t.test('at most 100 resets are in progress, and each for at most 60 seconds', async (t) => {
  const errors: unknown[] = []
  const { issuer } = issuing({ onError: (error) => errors.push(error) })
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const begun: true[] = []
  const hang = () => {
    begun.push(true)
    return new Promise<void>(() => {})
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: 130 }, (_, index) => issuer.beginPasswordReset(`u${index}@example.com`, hang))
  )
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  t.equal(refused.length, 30)
  for (const error of refused) t.match(error, { code: 'LOGINS_OVERLOADED', statusCode: 503 })
  // Not with the timers that are replaced.
  while (begun.length < 100) await setImmediate()
  mock.timers.tick(59_999)
  await t.rejects(issuer.beginPasswordReset('late@example.com', hang), { code: 'LOGINS_OVERLOADED' })
  mock.timers.tick(1)
  while (errors.length < 100) await setImmediate()
  t.match(errors[0], { message: /^token-issuing: a password reset did not end within 60 s\./ })
  await issuer.beginPasswordReset('late@example.com', async () => {})
})

t.test('a store that fails, and a value that cannot be a name, begin nothing and take no place', async (t) => {
  let begun = 0
  const begin = async () => void (begun += 1)
  const failure = new Error('no connection')
  const failing = { ...memoryLoginAttemptStore(), take: () => Promise.reject(failure) }
  const { options, issuer } = issuing()
  const broken = issuing({ stores: { ...options.stores, loginAttempts: failing } }).issuer
  for (let reset = 0; reset < 101; reset += 1) await t.rejects(broken.beginPasswordReset('ada@example.com', begin), failure)
  for (const name of ['', 'a\0b', '\ud800', 'x'.repeat(1025), undefined, 7, {}])
    await t.rejects(issuer.beginPasswordReset(name as string, begin), {
      code: 'INVALID_TOKEN_REQUEST',
      errors: [{ field: 'body.username' }]
    })
  t.equal(begun, 0)
})
