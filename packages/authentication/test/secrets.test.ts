import { createApiKey, memoryApiKeyStore } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import t from 'tap'
import { audience, issuer, outside, ownIssuer, service } from './service.ts'

function capturedLog() {
  const log = { text: '', fastify: { logger: { level: 'trace', stream: { write: (line: string) => void (log.text += line) } } } }
  return log
}

// The parts of a token that would reveal it or its claims. The header is the same for all tokens and reveals nothing.
function partsOf(token: string) {
  return token.split('.').filter((part, index) => index > 0 && part.length > 12)
}

t.test('logs no token, no key and no part of them, even at the lowest level [U7]', async (t) => {
  for (const { kit, issuer: trusted } of [ownIssuer('HS256'), ownIssuer('ES256'), outside('RS256')]) {
    const log = capturedLog()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
    const down = { ...memoryApiKeyStore([record]), find: () => Promise.reject(new Error('down')) }
    const { app } = await service(
      {
        issuers: [trusted],
        apiKeys: { store: down, permissions: ['orders:read'] },
        cookie: { name: '__Host-token', origins: [] },
        revocations: { staleMs: 0, isRevoked: ({ jti }) => jti === 'revoked' }
      },
      { fastify: log.fastify }
    )
    const canaries = new Set<string>([key, key.slice(12, 55)])
    const send = async (token: string) => {
      for (const part of partsOf(token)) canaries.add(part)
      await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
      await app.inject({ url: '/orders', method: 'POST', headers: { cookie: `__Host-token=${token}` } })
    }
    for (const { token } of kit.badTokens()) await send(token)
    const secret = 'CANARY-in-a-claim'
    for (const claims of [{ scope: 'orders:read' }, {}, { jti: 'revoked' }, { aud: 'another' }, { exp: 'CANARY' }, { nonce: secret }]) {
      await send(kit.token({ ...claims, secret }))
    }
    await send(kit.signed({ alg: 'ES256', typ: 'at+jwt', kid: secret }, '{"CANARY-in-no-JSON": x}'))
    await app.inject({ url: '/orders', headers: { 'x-api-key': key } })
    await app.inject({ url: '/orders', headers: { authorization: `Basic ${Buffer.from('ada:CANARY').toString('base64')}` } })
    for (const reason of ['the issuer is not trusted', 'it is too long', 'down']) {
      t.match(log.text, `"reason":"${reason}","msg":"authentication: credentials rejected"`)
    }
    t.notMatch(log.text, 'CANARY')
    for (const canary of canaries) if (log.text.includes(canary)) t.fail(`the log contains ${canary}`)
    t.ok(canaries.size > 100)
  }
})

t.test('returns no part of a token in a response', async (t) => {
  const { app, kit } = await service()
  for (const { token, name } of kit.badTokens()) {
    const { body, headers } = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${token}` } })
    const text = body + JSON.stringify(headers)
    t.notOk(
      partsOf(token).some((part) => text.includes(part)),
      name
    )
  }
})

t.test('does not quote a rejected secret or key at boot', async (t) => {
  const kit = testKit({ issuer, audience })
  t.notMatch(JSON.stringify(kit.keys), 'PRIVATE')
  const { ownTokens } = await import('@concordat/authentication')
  for (const keys of [
    [{ kid: '1', algorithm: 'HS256', secret: 'CANARY' }],
    [{ kid: '1', algorithm: 'ES256', privateKey: '-----BEGIN PRIVATE KEY-----CANARY' }]
  ] as const) {
    try {
      ownTokens({ issuer, audience, keys })
      t.fail('it was accepted')
    } catch (error) {
      t.notMatch(`${(error as Error).stack}${String((error as Error).cause)}`, 'CANARY')
    }
  }
})
