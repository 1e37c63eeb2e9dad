// A correct client: it has a session, sends a write again with its key until there is a final response, and waits as Retry-After says.
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { isErrorEnvelope, jsonOf } from './envelope.ts'
import type { Evidence } from './evidence.ts'
import { originHeader } from './proxy.ts'
import type { Recorder } from './recorder.ts'

/** What clients share. */
export interface Surroundings {
  readonly port: number
  readonly recorder: Recorder
  readonly evidence: Evidence
  /** Everything that must not be in a log. */
  readonly secrets: Set<string>
  /** Set when clients must stop to wait for final responses. */
  isOver: boolean
}

export interface User {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly role: 'customer' | 'staff' | 'administrator'
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- any resource
  readonly body: any
}

export interface Sending {
  readonly body?: object | string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly isAnonymous?: boolean
}

const timeoutMs = 40_000
const maxPauseSeconds = 30

export class Client {
  readonly user: User
  readonly #around: Surroundings
  readonly #agent: Agent
  #session: { readonly access: string; readonly refresh: string } | undefined

  constructor(around: Surroundings, user: User, localAddress: string) {
    this.#around = around
    this.user = user
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64, localAddress })
  }

  /** Signs in with the password, or with the refresh token. */
  async signIn(how: 'password' | 'refresh' = 'password'): Promise<void> {
    const { email: username, password } = this.user
    const refreshToken = this.#session?.refresh
    const body = how === 'refresh' && refreshToken !== undefined ? { refreshToken } : { username, password }
    const reply = await this.#finally(() => this.send('POST', '/v2/tokens', { body, isAnonymous: true }))
    if (reply === undefined) return
    if (reply.status === 401 && 'refreshToken' in body) return this.signIn()
    if (reply.status !== 200)
      return this.#around.evidence.fail('a user with a valid password can sign in', `${username}: ${reply.status} ${reply.text}`)
    const { accessToken, refreshToken: next } = reply.body.data
    this.#around.secrets.add(accessToken).add(next)
    this.#session = { access: accessToken, refresh: next }
  }

  /** Sends a request once. Returns undefined without a response. */
  async send(method: string, path: string, { body, headers = {}, isAnonymous = false }: Sending = {}): Promise<Reply | undefined> {
    const { recorder, evidence } = this.#around
    const payload = typeof body === 'object' ? JSON.stringify(body) : body
    const all = {
      ...(payload !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
      ...(!isAnonymous && this.#session && { authorization: `Bearer ${this.#session.access}` }),
      ...headers
    }
    const operation = `${method} ${path.replace(/\?.*/, '').replace(/[\da-f]{8}-[\da-f-]{27}/g, ':id')}`
    const begin = performance.now()
    const reply = await this.#exchange(method, path, all, payload).catch(() => undefined)
    const ms = performance.now() - begin
    if (reply === undefined) {
      recorder.add(operation, 'lost', ms)
      return undefined
    }
    if (!/\d$/.test(String(reply.headers[originHeader] ?? ''))) {
      recorder.add(operation, `nginx ${reply.status}`, ms)
      return undefined
    }
    recorder.add(operation, String(reply.status), ms)
    if (reply.status >= 400 && method !== 'HEAD' && !isErrorEnvelope(reply.status, reply.body))
      evidence.fail('every error of the service is in the envelope', `${operation} → ${reply.status} ${reply.text}`)
    if (reply.status >= 500)
      recorder.serverErrors.push({ at: recorder.now, what: `${operation} → ${reply.status} ${reply.body?.error?.code}` })
    if (reply.status === 500) evidence.fail('no response is a 500', `${operation} → ${reply.text} at ${recorder.now.toFixed(1)} s`)
    return reply
  }

  /** Sends a request until the response is final. Returns undefined when the run ends before. */
  final(method: string, path: string, sending: Sending = {}): Promise<Reply | undefined> {
    return this.#finally(() => this.send(method, path, sending), sending.isAnonymous !== true)
  }

  async #finally(attempt: () => Promise<Reply | undefined>, hasSession = false): Promise<Reply | undefined> {
    for (let tries = 0; !this.#around.isOver; tries += 1) {
      const reply = await attempt()
      if (reply?.status === 401 && hasSession && tries < 20) {
        await this.signIn('refresh')
        continue
      }
      if (reply !== undefined && !isTransient(reply)) return reply
      const seconds = Number(reply?.headers['retry-after'] ?? 0) || Math.min(0.1 * 2 ** tries, 2)
      await delay(Math.min(seconds, maxPauseSeconds) * 1000 * (1 + Math.random() / 4))
    }
    return undefined
  }

  #exchange(method: string, path: string, headers: Record<string, string>, payload: string | undefined): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#around.port, method, path, headers, agent: this.#agent, timeout: timeoutMs }
      const sent = request(options, (response: IncomingMessage) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          const isJson = response.headers['content-type']?.startsWith('application/json') === true
          resolve({
            status: response.statusCode as number,
            headers: response.headers,
            text,
            body: isJson && text !== '' ? jsonOf(text) : undefined
          })
        })
      })
      sent.on('timeout', () => sent.destroy(new Error('timeout')))
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Whether a later attempt may have another outcome. */
function isTransient({ status, headers }: Reply): boolean {
  return status >= 500 || status === 429 || (status === 409 && headers['retry-after'] !== undefined)
}
