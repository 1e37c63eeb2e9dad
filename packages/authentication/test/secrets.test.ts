import { createApiKey, memoryApiKeyStore } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/test-kit'
import t from 'tap'
import { audience, issuer, outside, ownIssuer, service } from './service.ts'

function capturedLog() {
  const log = { text: '', fastify: { logger: { level: 'trace', stream: { write: (line: string) => void (log.text += line) } } } }
  return log
}

// Parts of a token that would give it, or what it says, away. A header is the same for all, and says nothing.
function partsOf(token: string) {
  return token.split('.').filter((part, index) => index > 0 && part.length > 12)
}

t.test('no line of the log shows a token, a key or a part of one, whatever happens to it, at the lowest level [U7]', async (t) => {
  for (const { kit, issuer: trusted } of [ownIssuer('HS256'), ownIssuer('ES256'), outside('RS256')]) {
    const log = capturedLog()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
    const down = { ...memoryApiKeyStore([record]), find: () => Promise.reject(new Error('down')) }
    const { app } = await service(
      {
        issuers: [trusted],
        apiKeys: { store: down, permissions: ['orders:read'] },
        cookie: { name: '__Host-token', origins: [] },
        revocations: { staleMilliseconds: 0, isRevoked: ({ jti }) => jti === 'revoked' }
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
    for (const reason of ['nobody trusts its issuer', 'it is too long', 'down']) {
      t.match(log.text, `"reason":"${reason}","msg":"credentials refused"`)
    }
    t.notMatch(log.text, 'CANARY')
    for (const canary of canaries) if (log.text.includes(canary)) t.fail(`the log shows ${canary}`)
    t.ok(canaries.size > 100)
  }
})

t.test('an answer shows nothing of a token either', async (t) => {
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

t.test('a rejected secret or key is not quoted at boot', async (t) => {
  const kit = testKit({ issuer, audience })
  t.notMatch(JSON.stringify(kit.keys), 'PRIVATE')
  const { ownTokens } = await import('@concordat/authentication')
  for (const keys of [
    [{ kid: '1', algorithm: 'HS256', secret: 'CANARY' }],
    [{ kid: '1', algorithm: 'ES256', privateKey: '-----BEGIN PRIVATE KEY-----CANARY' }]
  ] as const) {
    try {
      ownTokens({ issuer, audience, keys })
      t.fail('it was taken')
    } catch (error) {
      t.notMatch(`${(error as Error).stack}${String((error as Error).cause)}`, 'CANARY')
    }
  }
})
