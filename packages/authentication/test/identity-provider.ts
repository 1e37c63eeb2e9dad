import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import type { TestKit } from '@concordat/authentication/testing'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

export type Tap = { readonly teardown: (end: () => unknown) => void }
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** An identity provider on a port of this machine. */
export class IdentityProvider {
  /** The handlers by path. */
  readonly routes = new Map<string, Handler>()
  /** The paths of all requests so far. */
  readonly requested: string[] = []
  readonly #keys = new Map<string, { readonly privateKey: CryptoKey; readonly jwk: JWK }>()
  readonly #server = createServer((request, response) => {
    const path = request.url as string
    this.requested.push(path)
    const handler = this.routes.get(path)
    if (handler === undefined) response.writeHead(404).end()
    else handler(request, response)
  })

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Sends requests for the provider's public URLs to this server, as a proxy would. */
  readonly fetch: TestKit['fetch'] = (url, init) => fetch(new URL(new URL(url).pathname, this.origin), init)

  async listen(t: Tap): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => this.close())
    return this
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Responds to a path with this JSON. A function is called for each request. */
  serve(path: string, json: unknown): void {
    this.routes.set(path, (_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(typeof json === 'function' ? json() : json))
    })
  }

  /** Serves the discovery document of an issuer, and the key set at `keysPath`. */
  serveMetadata(issuer: string, keysPath: string, keysUrl: string = new URL(keysPath, issuer).href): void {
    const path = new URL(issuer).pathname.replace(/\/$/, '')
    this.serve(`${path}/.well-known/openid-configuration`, { issuer, jwks_uri: keysUrl })
    this.serve(keysPath, () => ({ keys: [...this.#keys.values()].map(({ jwk }) => jwk) }))
  }

  /** Adds a signing key. Entra ID's keys have no `alg`. */
  async addKey(kid: string): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    this.#keys.set(kid, { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } })
  }

  /** Removes a key from the key set. Returns a function that still signs with it. */
  withdrawKey(kid: string): (claims: object) => Promise<string> {
    const key = this.#keys.get(kid)?.privateKey as CryptoKey
    this.#keys.delete(kid)
    return (claims) => signedWith(key, kid, claims)
  }

  /** Returns an `Authorization` header with a token of these claims. */
  async bearer(claims: object, { kid = '1', typ = 'JWT' }: { kid?: string; typ?: string } = {}): Promise<{ authorization: string }> {
    return { authorization: `Bearer ${await signedWith(this.#keys.get(kid)?.privateKey as CryptoKey, kid, claims, typ)}` }
  }
}

function signedWith(key: CryptoKey, kid: string, claims: object, typ = 'JWT') {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', typ, kid }).sign(key)
}

/** Lets a test advance the clock; timers and promises run as usual. */
export function clock(t: Tap): (milliseconds: number) => void {
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  return (milliseconds) => mock.timers.tick(milliseconds)
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
