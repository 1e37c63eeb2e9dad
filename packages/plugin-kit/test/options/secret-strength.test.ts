import { createCipheriv } from 'node:crypto'
import { optionChecks, weaknessOf } from '@concordat/plugin-kit/options'
import t from 'tap'

// The same bytes each time: about one random secret in a million looks like words.
const stream = createCipheriv('aes-256-ctr', Buffer.alloc(32, 1), Buffer.alloc(16))
const randomBytes = (count: number) => stream.update(Buffer.alloc(count))
const random = randomBytes(32)
const rfc7515 = 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow'

const randomText = (characters: string, length: number) =>
  Array.from(randomBytes(length), (byte) => characters[byte % characters.length]).join('')

t.test('says why a secret is weak', (t) => {
  for (const [secret, weakness] of [
    ['', 'has 0 bytes and needs at least 32'],
    [randomBytes(31), 'has 31 bytes and needs at least 32'],
    ['a'.repeat(64), 'repeats itself'],
    ['0123456789'.repeat(4), 'repeats itself'],
    ['0123456789abcdefghijklmnopqrstuv', 'is not random enough'],
    ['8f2b8f2b0c1d0c1d8f2b0c1d2b8f1d0c', 'is not random enough'],
    [Buffer.concat([random.subarray(0, 16), random.subarray(0, 16), random.subarray(0, 16)]), 'repeats itself'],
    [Buffer.from(Array.from({ length: 64 }, (_, index) => index)), 'is not random enough'],
    ['secret'.repeat(8), 'repeats itself'],
    ['a-string-secret-at-least-256-bits-long', 'is published as an example'],
    ['qwertyuiopasdfghjklzxcvbnm123456', 'is published as an example'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'is published as an example'],
    // RFC 7515, appendix A.1, as text and as the bytes that it encodes.
    [rfc7515, 'is published as an example'],
    [Buffer.from(rfc7515, 'base64url'), 'is published as an example']
  ] as const)
    t.equal(weaknessOf(secret), weakness, String(secret))
  t.equal(weaknessOf(randomBytes(23), 24), 'has 23 bytes and needs at least 24')
  t.end()
})

t.test('recognizes words, however they are joined', (t) => {
  for (const secret of [
    'development only: a very long secret!',
    'my-super-secret-key-that-nobody-will-ever-guess',
    'Correct Horse Battery Staple Correct Again 2026!',
    'THIS_IS_THE_PRODUCTION_SECRET_OF_ORDERS',
    'CorrectHorseBatteryStapleForProduction',
    'jwtSecretKeyForOrdersServiceInProduction2026',
    'super_secret_jwt_signing_key_123456',
    'my$ecret&key*for^development%only',
    'orders2service7token1secret9staging',
    'N0-s3cret, for development & tests alone: 7vQx1Zp4',
    'esto es un secreto muy largo de desarrollo',
    'das ist ein sehr geheimes Passwort, 2026',
    'please/replace/this/with/a/random/string'
  ])
    t.equal(weaknessOf(secret), 'consists of words', secret)
  t.end()
})

t.test('accepts random secrets in every usual encoding', (t) => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  for (let time = 0; time < 200; time += 1) {
    const bytes = randomBytes(32)
    for (const secret of [
      bytes,
      bytes.toString('hex'),
      bytes.toString('base64'),
      bytes.toString('base64url'),
      randomBytes(48).toString('base64'),
      randomText(`${letters.toUpperCase()}234567`, 52),
      randomText(`${letters}${letters.toUpperCase()}0123456789-_!+`, 40)
    ])
      t.equal(weaknessOf(secret), undefined, String(secret))
    t.equal(weaknessOf(randomBytes(24), 24), undefined)
  }
  t.end()
})

t.test('a check names the option, what is wrong and how to create a secret, but never the secret', (t) => {
  const { secret } = optionChecks('jobs')
  t.equal(secret('options.secret', random), random)
  t.equal(secret('options.secret', random.toString('base64')), random.toString('base64'))
  for (const [value, says] of [
    ['short', 'has 5 bytes and needs at least 32'],
    ['development only: a very long secret!', 'consists of words'],
    [undefined, 'must be a string or bytes'],
    [7, 'must be a string or bytes']
  ] as const)
    t.throws(() => secret('options.secret', value as string), {
      name: 'TypeError',
      message: `jobs: options.secret ${says}. Create a secret with: openssl rand -base64 32`
    })
  t.end()
})
