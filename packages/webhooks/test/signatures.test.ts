import crypto, { createHmac, randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { newSecret, newSigningKeyPair, signatureOf } from '@concordat/webhooks'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { assert, integer, property, string, uuid } from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyAt } from './verify-at.ts'

const knownSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const knownPrivateKey = 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=='
const known = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
const knownV1 = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
const knownV1a = 'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=='
const knownPublicKey = `whpk_${Buffer.from(knownPrivateKey.slice(5), 'base64').subarray(32).toString('base64')}`
const knownTime = known.timestamp * 1000
const verifyKnown = (...input: Parameters<typeof verifyWebhook>) => verifyAt(knownTime, ...input)

function headersOf(message: typeof known, keys: readonly string[]) {
  return { 'webhook-id': message.id, 'webhook-timestamp': String(message.timestamp), 'webhook-signature': signatureOf(message, keys) }
}

t.test('creates the known signatures of Standard Webhooks, HMAC and ed25519, in the order of the keys [W3]', async (t) => {
  t.equal(signatureOf(known, [knownSecret]), knownV1)
  t.equal(signatureOf(known, [knownPrivateKey]), knownV1a)
  t.equal(signatureOf({ ...known, body: Buffer.from(known.body) }, [knownPrivateKey, knownSecret]), `${knownV1a} ${knownV1}`)
  t.strictSame(verifyKnown({ ...headersOf(known, [knownSecret]) }, known.body, { keys: [knownSecret] }), {
    id: known.id,
    sentAt: knownTime
  })
  verifyKnown(headersOf(known, [knownPrivateKey]), known.body, { keys: [knownPublicKey] })
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
    t.throws(() => verifyKnown(headers, changed, { keys }), { code: 'WEBHOOK_SIGNATURE_INVALID', statusCode: 403 })
  }
  for (const change of [
    { 'webhook-id': 'msg_other' },
    { 'webhook-timestamp': String(known.timestamp + 1) },
    { 'webhook-signature': `v2,${knownV1.slice(3)} v1, v1 v1a,AAAA ${knownV1.replace('v1,g', 'v1,h')}` },
    { 'webhook-signature': knownV1.replace('v1,', 'v1a,') },
    { 'webhook-signature': knownV1a.replace('v1a,', 'v1,') },
    { 'webhook-signature': `v1,${Buffer.concat([Buffer.from(knownV1.slice(3), 'base64'), Buffer.alloc(1)]).toString('base64')}` }
  ]) {
    t.throws(() => verifyKnown({ ...headers, ...change }, bytes, { keys }), { code: 'WEBHOOK_SIGNATURE_INVALID' })
  }
  t.throws(() => verifyKnown(headers, bytes, { keys: [newSecret()] }), { code: 'WEBHOOK_SIGNATURE_INVALID' })
})

t.test('accepts timestamps up to 300 seconds from now, and refuses 301', async (t) => {
  const headers = headersOf(known, [knownSecret])
  const at = (seconds: number) => () => verifyAt(knownTime + seconds * 1000, headers, known.body, { keys: [knownSecret] })
  for (const seconds of [-300, 0, 300]) t.doesNotThrow(at(seconds))
  for (const seconds of [-301, 301]) t.throws(at(seconds), { code: 'WEBHOOK_TIMESTAMP_REFUSED', params: { toleranceSeconds: 300 } })
})

t.test('refuses a missing, repeated or malformed header and names it', async (t) => {
  const headers = headersOf(known, [knownSecret])
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    for (const value of [undefined, '', ['a', 'b'], 'ä', 'x'.repeat(5000)]) {
      t.throws(() => verifyKnown({ ...headers, [name]: value }, known.body, { keys: [knownSecret] }), {
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

const forged = { v1: `v1,${'A'.repeat(43)}=`, v1a: `v1a,${'A'.repeat(86)}==` }

t.test('a refusal reads the body once for each secret and at most four times for each public key, whatever the header has', (t) => {
  const counts = { createHmac: 0, verify: 0 }
  for (const name of ['createHmac', 'verify'] as const) {
    const original = crypto[name] as (...given: unknown[]) => unknown
    const counted = (...given: unknown[]) => {
      counts[name] += 1
      return original(...given)
    }
    t.intercept(crypto, name, { value: counted })
  }
  syncBuiltinESMExports()
  t.teardown(syncBuiltinESMExports)
  const keys = [newSecret(), newSecret(), newSigningKeyPair().publicKey]
  for (const [signatures, expected] of [
    [Array.from({ length: 80 }, () => forged.v1), { createHmac: 2, verify: 0 }],
    [Array.from({ length: 40 }, () => forged.v1a), { createHmac: 0, verify: 4 }],
    [Array.from({ length: 15 }, () => Object.values(forged)).flat(), { createHmac: 2, verify: 4 }],
    [['v1,AAAA', 'v1a,AAAA', 'v2,AAAA', 'v1', ','], { createHmac: 0, verify: 0 }]
  ] as const) {
    const headers = { ...headersOf(known, [knownSecret]), 'webhook-signature': signatures.join(' ') }
    Object.assign(counts, { createHmac: 0, verify: 0 })
    t.throws(() => verifyKnown(headers, known.body, { keys }), { code: 'WEBHOOK_SIGNATURE_INVALID' })
    t.strictSame(counts, expected)
  }
  t.end()
})

const verifying = (signatures: readonly string[], keys: readonly string[]) => () =>
  verifyKnown({ ...headersOf(known, [knownSecret]), 'webhook-signature': signatures.join(' ') }, known.body, { keys })

t.test('accepts a valid signature after others, of a secret anywhere, of a public key among the first four', async (t) => {
  for (const count of [0, 1, 15, 60])
    t.doesNotThrow(verifying([...Array.from({ length: count }, () => forged.v1), knownV1], [newSecret(), knownSecret]), String(count))
  const three = Array.from({ length: 3 }, () => forged.v1a)
  t.doesNotThrow(verifying([...three, forged.v1, 'v1a,AAAA', knownV1a], [knownPublicKey]))
  t.throws(verifying([...three, forged.v1a, knownV1a], [knownPublicKey]), { code: 'WEBHOOK_SIGNATURE_INVALID' })
})

t.test('a mistake of the receiver is a TypeError of one line, never a refusal of the sender and never an acceptance', async (t) => {
  const headers = headersOf(known, [knownSecret])
  const keys = [knownSecret]
  const parsed: readonly unknown[] = [
    undefined,
    null,
    7,
    true,
    {},
    JSON.parse(known.body),
    [known.body],
    new ArrayBuffer(8),
    new Date(),
    () => known.body
  ]
  const calls: readonly [unknown, unknown, unknown, RegExp][] = [
    ...parsed.map((body): [unknown, unknown, unknown, RegExp] => [
      headers,
      body,
      { keys },
      /^webhooks: the body must be a string or a Uint8Array/
    ]),
    ...[undefined, null, 'webhook-id: 1', new Headers(headers), new Map(Object.entries(headers))].map(
      (given): [unknown, unknown, unknown, RegExp] => [given, known.body, { keys }, /^webhooks: the headers must be an object/]
    ),
    ...[
      [],
      knownSecret,
      undefined,
      null,
      {},
      [undefined],
      [`${knownSecret}\n`],
      [` ${knownSecret}`],
      [knownSecret, ''],
      [knownPrivateKey]
    ].map((given): [unknown, unknown, unknown, RegExp] => [headers, known.body, { keys: given }, /^webhooks: .*key/])
  ]
  for (const [given, body, options, message] of calls) {
    const error = t.throws(() => verifyKnown(given as never, body as never, options as never), {
      name: 'TypeError',
      message
    })
    t.notMatch(String(error), '\n')
  }
  for (const body of [
    known.body,
    Buffer.from(known.body),
    new Uint8Array(Buffer.from(known.body)),
    new DataView(Uint8Array.from(Buffer.from(known.body)).buffer)
  ])
    t.equal(verifyKnown(headers, body as never, { keys }).id, known.id)
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
