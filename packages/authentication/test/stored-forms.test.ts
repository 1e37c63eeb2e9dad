import { createHash } from 'node:crypto'
import { createApiKey, introspection, memoryApiKeyStore } from '@concordat/authentication'
import t from 'tap'
import { clock, IdentityProvider, seconds, type Tap } from './identity-provider.ts'
import { audience, ownIssuer, service } from './service.ts'

const issuer = 'https://id.example.com'
const scope = 'orders:read'
const opaque = 'ory_at_Kc2Vq-8sJ1m0.Zr4~T+b/Q'
const { key, record } = createApiKey({ client: 'kiosk', permissions: [scope] })
const { kit, issuer: own } = ownIssuer()
const jwt = kit.token({ scope })

type Headers = Readonly<Record<string, string>>

const asToken: Readonly<Record<string, (text: string) => Headers>> = {
  'Bearer token': (text) => ({ authorization: `Bearer ${text}` }),
  cookie: (text) => ({ cookie: `__Host-token=${text}` })
}

/** Creates a service that accepts the opaque token, the JWT and the API key, with one of the places for API keys. */
async function accepting(t: Tap, header: 'x-api-key' | 'authorization') {
  const provider = await new IdentityProvider().listen(t)
  provider.routes.set('/introspect', async (request, response) => {
    const token = new URLSearchParams(Buffer.concat(await request.toArray()).toString()).get('token')
    const claims = { active: true, iss: issuer, aud: audience, sub: 'ada', scope, iat: seconds() - 10, exp: seconds() + 600 }
    response.end(JSON.stringify(token === opaque ? claims : { active: false }))
  })
  const url = `${provider.origin}/introspect`
  const asKey = (text: string): Headers => (header === 'authorization' ? { authorization: `ApiKey ${text}` } : { [header]: text })
  const { app } = await service({
    issuers: [own, introspection({ issuer, audience, url, clientId: 'orders', clientSecret: 'not-a-secret' })],
    apiKeys: { store: memoryApiKeyStore([record]), permissions: [scope], header },
    cookie: { name: '__Host-token', origins: [] }
  })
  const places = { ...asToken, 'API key': asKey }
  return { places, asKey, status: async (headers: Headers) => (await app.inject({ url: '/orders', headers })).statusCode }
}

/** Returns what a store, a cache or a log may have of a credential, in every spelling, and what is almost the credential. */
function formsOf(credential: string) {
  const digests = ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha3-256'].flatMap((algorithm) => {
    const bytes = createHash(algorithm).update(credential).digest()
    return [...(['hex', 'base64', 'base64url'] as const).map((coding) => bytes.toString(coding)), bytes.toString('hex').toUpperCase()]
  })
  const parts = [credential.slice(-43), credential.slice(0, 43), ...credential.split(/[._]/)]
  const spellings = [
    credential.toUpperCase(),
    `${credential}x`,
    `x${credential}`,
    JSON.stringify(credential),
    encodeURIComponent(`${credential}~ `)
  ]
  return new Set([...digests, ...parts, ...spellings].filter((form) => form !== credential && form !== ''))
}

for (const header of ['x-api-key', 'authorization'] as const)
  t.test(
    `accepts no digest and no part of a credential in place of it, and no credential of another kind, also while it is cached, with API keys in ${header} [U1] [U6]`,
    async (t) => {
      // It does not advance, so that everything stays cached.
      clock(t)
      const { places, asKey, status } = await accepting(t, header)
      const credentials = [opaque, jwt]
        .flatMap((token) => Object.values(asToken).map((as) => ({ text: token, as })))
        .concat({ text: key, as: asKey })
      const stored = [record.id, record.secretHash, Buffer.from(record.secretHash, 'base64url').toString('hex')]
      let refused = 0
      for (const { text, as } of credentials) {
        t.equal(await status(as(text)), 200)
        const isKey = text === key
        for (const form of [text, ...formsOf(text), ...(isKey ? stored : [])]) {
          for (const [name, place] of Object.entries(places)) {
            if (form === text && isKey === (place === asKey)) continue
            const code = await status(place(form))
            if (code === 401) refused += 1
            else t.fail(`${form} as ${name}: ${code}`)
          }
        }
        t.equal(await status(as(text)), 200, 'after all of them')
      }
      t.ok(refused > 400, `${refused} refusals`)
    }
  )
