import { createHmac, randomBytes } from 'node:crypto'
import { newSecret, newSigningKeyPair, signatureOf } from '@concordat/webhooks'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { assert, integer, property, string, uuid } from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'

const knownSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const knownPrivateKey = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
const known = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
const knownV1 = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const knownV1a = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=='
const knownPublicKey = `whpk_${Buffer.from(knownPrivateKey.slice(5), 'base64').subarray(32).toString('base64')}`
const knownTime = () => known.timestamp * 1000

function headersOf(message: typeof known, keys: readonly string[]) {
  return { 'webhook-id': message.id, 'webhook-timestamp': String(message.timestamp), 'webhook-signature': signatureOf(message, keys) }
}

t.test('creates the known signatures of Standard Webhooks, HMAC and ed25519, in the order of the keys [W3]', async (t) => {
  t.equal(signatureOf(known, [knownSecret]), knownV1)
  t.equal(signatureOf(known, [knownPrivateKey]), knownV1a)
  t.equal(signatureOf({ ...known, body: Buffer.from(known.body) }, [knownPrivateKey, knownSecret]), `${knownV1a} ${knownV1}`)
  t.strictSame(verifyWebhook({ ...headersOf(known, [knownSecret]) }, known.body, { keys: [knownSecret], now: knownTime }), {
    id: known.id,
    sentAt: knownTime()
  })
  verifyWebhook(headersOf(known, [knownPrivateKey]), known.body, { keys: [knownPublicKey], now: knownTime })
})

t.test('the Standard Webhooks library and this package verify the signatures of each other, also during a rotation [W3]', async () => {
  const timestamp = Math.floor(Date.now() / 1000)
  assert(
    property(string({ unit: 'binary' }), uuid(), integer({ min: 24, max: 64 }), (text, id, length) => {
      const [old, current] = [randomSecret(length), newSecret()]
      const message = { id, timestamp, body: JSON.stringify({ type: 'a', text }) }
      const headers = headersOf(message, [current, old])
      for (const secret of [old, current]) new Webhook(secret).verify(message.body, headers)
      const theirs = { ...headers, 'webhook-signature': new Webhook(old).sign(id, new Date(timestamp * 1000), message.body) }
      verifyWebhook(theirs, Buffer.from(message.body), { keys: [current, old] })
    })
  )
})

t.test('refuses a changed byte in the body, the id, the timestamp or the signature [W3]', async (t) => {
  const keys = [knownSecret, knownPublicKey]
  const headers = headersOf(known, [knownSecret, knownPrivateKey])
  const bytes = Buffer.from(known.body)
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[index]! ^= 1
    t.throws(() => verifyWebhook(headers, changed, { keys, now: knownTime }), { code: 'WEBHOOK_SIGNATURE_INVALID', statusCode: 403 })
  }
  for (const change of [
    { 'webhook-id': 'msg_other' },
    { 'webhook-timestamp': String(known.timestamp + 1) },
    { 'webhook-signature': `v2,${knownV1.slice(3)} v1, v1 v1a,AAAA ${knownV1.replace('v1,g', 'v1,h')}` },
    { 'webhook-signature': knownV1.replace('v1,', 'v1a,') },
    { 'webhook-signature': knownV1a.replace('v1a,', 'v1,') }
  ]) {
    t.throws(() => verifyWebhook({ ...headers, ...change }, bytes, { keys, now: knownTime }), { code: 'WEBHOOK_SIGNATURE_INVALID' })
  }
  t.throws(() => verifyWebhook(headers, bytes, { keys: [newSecret()], now: knownTime }), { code: 'WEBHOOK_SIGNATURE_INVALID' })
})

t.test('accepts timestamps up to 300 seconds from now, and refuses 301', async (t) => {
  const headers = headersOf(known, [knownSecret])
  const at = (seconds: number) => () => verifyWebhook(headers, known.body, { keys: [knownSecret], now: () => knownTime() + seconds * 1000 })
  for (const seconds of [-300, 0, 300]) t.doesNotThrow(at(seconds))
  for (const seconds of [-301, 301]) t.throws(at(seconds), { code: 'WEBHOOK_TIMESTAMP_REFUSED', params: { toleranceSeconds: 300 } })
})

t.test('refuses a missing, repeated or malformed header and names it', async (t) => {
  const headers = headersOf(known, [knownSecret])
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    for (const value of [undefined, '', ['a', 'b'], 'ä', 'x'.repeat(5000)]) {
      t.throws(() => verifyWebhook({ ...headers, [name]: value }, known.body, { keys: [knownSecret], now: knownTime }), {
        code: 'WEBHOOK_HEADER_MISSING',
        statusCode: 400,
        params: { header: name }
      })
    }
  }
  for (const timestamp of ['-1', '1e9', '0x1', '1614265330.5', ' 1614265330']) {
    t.throws(() => verifyWebhook({ ...headers, 'webhook-timestamp': timestamp }, known.body, { keys: [knownSecret] }), {
      code: 'WEBHOOK_HEADER_MISSING'
    })
  }
})

t.test('new keys are random, have the format of the specification, and verify', async (t) => {
  t.match(newSecret(), /^whsec_[A-Za-z\d+/]{43}=$/)
  t.not(newSecret(), newSecret())
  const { privateKey, publicKey } = newSigningKeyPair()
  const message = { ...known, timestamp: Math.floor(Date.now() / 1000) }
  verifyWebhook(headersOf(message, [privateKey]), message.body, { keys: [publicKey] })
  t.throws(() => verifyWebhook(headersOf(message, [privateKey]), message.body, { keys: [newSigningKeyPair().publicKey] }))
})

t.test('rejects an invalid key without showing it', async (t) => {
  for (const key of [
    '',
    'secret',
    knownSecret.slice(6),
    `whsec_${'a'.repeat(20)}`,
    `whsec_${'a'.repeat(88)}`,
    'whsk_AAAA',
    'whpk_AAAA',
    'whsec_$$$'
  ]) {
    t.throws(
      () => signatureOf(known, [key]),
      /^webhooks: a key is invalid\. A key is "whsec_" followed by 24 to 64 bytes in base64, "whsk_" followed by 64/
    )
  }
  t.throws(() => signatureOf(known, [knownPublicKey]), /a public key cannot sign/)
})

t.test('accepts secrets of 24 to 64 bytes and signs like a direct HMAC', async (t) => {
  for (const length of [24, 64]) {
    const bytes = randomBytes(length)
    const expected = createHmac('sha256', bytes).update(`${known.id}.${known.timestamp}.${known.body}`).digest('base64')
    t.equal(signatureOf(known, [`whsec_${bytes.toString('base64')}`]), `v1,${expected}`)
  }
})

function randomSecret(length: number) {
  return `whsec_${randomBytes(length).toString('base64')}`
}
