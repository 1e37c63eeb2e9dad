import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Api } from '@concordat/client'
import { verifyWebhook, type WebhookCode, WebhookError, type WebhookRequest } from '@concordat/client/webhooks'
import { Webhook } from 'standardwebhooks'
import t from 'tap'

interface Operations {
  events: { 'order.created': { type: 'order.created'; data: { total: string } }; 'order.gone': { type: 'order.gone'; data: null } }
}
const api: Api<Operations> = { version: '1', operations: {} }
const secret = `whsec_${randomBytes(32).toString('base64')}`
const other = `whsec_${randomBytes(32).toString('base64')}`
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const shown = `whpk_${publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')}`
const event = { type: 'order.created', timestamp: '2026-01-31T12:00:00Z', data: { total: '3.50 €' } }
const text = JSON.stringify(event)
const now = () => Math.floor(Date.now() / 1000)

/** Headers whose signatures are made by the reference library, or with a private key. */
function headersFor(body: string | Buffer, { at = now(), keys = [secret] }: { at?: number; keys?: readonly string[] } = {}) {
  const signatures = keys.map((key) =>
    key === shown
      ? `v1a,${sign(null, Buffer.from(`msg_1.${at}.${String(body)}`), privateKey).toString('base64')}`
      : new Webhook(key).sign('msg_1', new Date(at * 1000), String(body))
  )
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': String(at), 'webhook-signature': signatures.join(' ') }
}
const posted = (body: string, headers: Record<string, string> = headersFor(body)) =>
  new Request('https://here.example', { method: 'POST', body, headers })

t.test('the event of a webhook is returned, in each form of a request, with its type', async (t) => {
  const forms: WebhookRequest[] = [
    posted(text),
    { headers: new Headers(headersFor(text)), body: text },
    { headers: headersFor(text), body: Buffer.from(text) }
  ]
  for (const form of forms) {
    const received = await verifyWebhook(api, form, { keys: [secret] })
    t.strictSame(received, { ...event, id: 'msg_1' })
    if (received.type === 'order.created') t.equal(received.data.total, '3.50 €')
  }
})

t.test('one valid signature for one of the keys is enough', async (t) => {
  const cases: [signed: string[], known: string[]][] = [
    [[secret], [other, secret]],
    [[other, secret], [secret]],
    [[shown], [shown]],
    [[secret, shown], [shown]],
    [
      [shown, secret],
      [secret, other]
    ]
  ]
  for (const [keys, known] of cases)
    t.match(await verifyWebhook(api, posted(text, headersFor(text, { keys })), { keys: known }), { id: 'msg_1' })
})

t.test('what is not a webhook of the sender is refused', async (t) => {
  const signature = headersFor(text)['webhook-signature']
  const unsigned = (more: object) => posted(text, { ...headersFor(text), ...more })
  const bytes = Buffer.from([0x7b, 0xff, 0x7d])
  const many = Array.from({ length: 20 }, () => `v1,${randomBytes(32).toString('base64')}`).join(' ')
  const cases: [what: string, code: WebhookCode, status: number, request: WebhookRequest, keys?: string[]][] = [
    ['another body', 'WEBHOOK_SIGNATURE_INVALID', 403, posted(text.replace('3.50', '9.50'), headersFor(text))],
    ['another secret', 'WEBHOOK_SIGNATURE_INVALID', 403, posted(text), [other]],
    ['a public key for a secret', 'WEBHOOK_SIGNATURE_INVALID', 403, posted(text), [shown]],
    ['another id', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-id': 'msg_2' })],
    ['another timestamp', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-timestamp': String(now() - 1) })],
    ['a shorter signature', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-signature': signature.slice(0, -8) })],
    ['no base64', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-signature': 'v1,*' })],
    ['another version', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-signature': signature.replace('v1,', 'v2,') })],
    ['many signatures', 'WEBHOOK_SIGNATURE_INVALID', 403, unsigned({ 'webhook-signature': many })],
    [
      'more signatures of a private key than are read',
      'WEBHOOK_SIGNATURE_INVALID',
      403,
      unsigned({
        'webhook-signature': `${`v1a,${randomBytes(64).toString('base64')} `.repeat(4)}${headersFor(text, { keys: [shown] })['webhook-signature']}`
      }),
      [shown]
    ],
    ['an old timestamp', 'WEBHOOK_TIMESTAMP_REFUSED', 403, posted(text, headersFor(text, { at: now() - 310 }))],
    ['a future timestamp', 'WEBHOOK_TIMESTAMP_REFUSED', 403, posted(text, headersFor(text, { at: now() + 310 }))],
    ['a timestamp in words', 'WEBHOOK_HEADER_MISSING', 400, unsigned({ 'webhook-timestamp': 'now' })],
    ['no id', 'WEBHOOK_HEADER_MISSING', 400, { headers: { ...headersFor(text), 'webhook-id': undefined }, body: text }],
    ['two ids', 'WEBHOOK_HEADER_MISSING', 400, { headers: { ...headersFor(text), 'webhook-id': ['a', 'b'] }, body: text }],
    ['no body', 'WEBHOOK_SIGNATURE_INVALID', 403, new Request('https://here.example', { method: 'POST', headers: headersFor(text) })],
    ['no JSON', 'WEBHOOK_PAYLOAD_INVALID', 400, posted('order')],
    ['null', 'WEBHOOK_PAYLOAD_INVALID', 400, posted('null')],
    ['no type', 'WEBHOOK_PAYLOAD_INVALID', 400, posted('{"type":1}')],
    ['too much', 'WEBHOOK_PAYLOAD_TOO_LARGE', 413, posted('a'.repeat(1024 * 1024 + 1))]
  ]
  for (const [what, code, status, request, keys = [secret]] of cases) {
    const error = await verifyWebhook(api, request, { keys }).then(
      () => undefined,
      (thrown: unknown) => thrown
    )
    t.ok(error instanceof WebhookError, what)
    t.match(error, { name: 'WebhookError', code, status, message: /\.$/ }, what)
  }
  const at = now()
  const key = await crypto.subtle.importKey('raw', Buffer.from(secret.slice(6), 'base64'), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign'
  ])
  const mac = await crypto.subtle.sign('HMAC', key, Buffer.concat([Buffer.from(`msg_1.${at}.`), bytes]))
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${Buffer.from(mac).toString('base64')}`
  }
  await t.rejects(verifyWebhook(api, { headers, body: bytes }, { keys: [secret] }), { code: 'WEBHOOK_PAYLOAD_INVALID' })
})

t.test('invalid keys are a mistake of the receiver, and are not shown', async (t) => {
  for (const keys of [
    [],
    ['whsec_'],
    [`whsec_${randomBytes(8).toString('base64')}`],
    [`whpk_${randomBytes(33).toString('base64')}`],
    ['secret']
  ])
    await t.rejects(
      verifyWebhook(api, posted(text), { keys }),
      { name: 'TypeError', message: /^client: (?:options\.keys is empty|a key is invalid)\./ },
      String(keys)
    )
  const misspelt = { keys: [secret], kys: [] }
  await t.rejects(verifyWebhook(api, posted(text), misspelt), { message: 'client: options.kys is unknown. Remove it.' })
})
