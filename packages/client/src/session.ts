import type { Api } from './api.ts'
import { ApiError } from './api-error.ts'
import type { Send } from './sending.ts'

/** The tokens of a session, as the service sends them. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

/** Where a session is stored, for example `localStorage`. All pages with one store and one name share a session. */
export interface TokenStore {
  load(): Tokens | undefined | Promise<Tokens | undefined>
  /** Without tokens, it forgets those that it has. */
  save(tokens: Tokens | undefined): void | Promise<void>
}

/** Options of {@link createSession}. */
export interface SessionOptions {
  /** By default in memory. */
  readonly store?: TokenStore | undefined
  /** Names the lock that the tabs of an origin share: `concordat-session` by default. */
  readonly name?: string | undefined
}

/** A session of one user. */
export interface Session {
  /** Stores the tokens that the service returns for these credentials. Rejects with the {@link ApiError} of the service. */
  signIn(credentials: object): Promise<void>
  /** Forgets the tokens, and revokes them at the service. */
  signOut(): Promise<void>
  /** Returns the access token. */
  token(): Promise<string | undefined>
  /** Exchanges the refresh token, unless the access token is another one by now. A client calls it when its token has expired. */
  refresh(expired: string): Promise<void>
  /** Called by `createClient`. */
  connect(send: Send): void
}

interface Locks {
  request(name: string, act: () => Promise<void>): Promise<void>
}

// The service returns the same successor for ten seconds. Later, a repeated refresh token ends the whole session.
const repeatSeconds = 8
const attempts = { timeoutSeconds: repeatSeconds, retries: 3 }

/**
 * Creates a session. Refreshes one at a time: among all calls, and among the tabs of an origin where the browser has Web Locks. Throws a `TypeError`
 * where the description has no operation that returns tokens.
 */
export function createSession(
  api: Api<unknown>,
  { store = memoryStore(), name = 'concordat-session', ...others }: SessionOptions = {}
): Session {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new TypeError(`client: options.${unknown} is unknown. Remove it.`)
  const { session: paths } = api
  if (paths === undefined) throw new TypeError('client: this service has no sessions.')
  const { signIn, signOut } = paths
  let connected: Send | undefined
  let refreshing: Promise<void> | undefined
  let started: { readonly refreshToken: string; readonly at: number } | undefined

  const post = async (path: string, body: object, more: object = {}) => {
    if (connected === undefined) throw new TypeError('client: pass the session to createClient first.')
    const { data } = await connected({ method: 'POST', path, input: { body, ...more }, isRepeatable: more === attempts })
    return data as Tokens
  }

  async function exchange(expired: string) {
    const tokens = await store.load()
    if (tokens === undefined || tokens.accessToken !== expired) return
    const { refreshToken } = tokens
    if (started?.refreshToken !== refreshToken) started = { refreshToken, at: Date.now() }
    const isCurrent = async () => (await store.load())?.refreshToken === refreshToken
    try {
      if (Math.abs(Date.now() - started.at) > repeatSeconds * 1000) throw new Error('client: the session has ended.')
      const next = await post(signIn, { refreshToken }, attempts)
      // The user has signed out meanwhile, or another tab was faster.
      if (await isCurrent()) await store.save({ accessToken: next.accessToken, refreshToken: next.refreshToken })
    } catch (error) {
      const isOver = !(error instanceof ApiError) || error.retry === 'changed' || error.retry === 'never'
      if (!(await isCurrent())) return
      if (isOver && !(error instanceof TypeError)) await store.save(undefined)
      throw error
    }
  }

  return {
    async signIn(credentials) {
      const { accessToken, refreshToken } = await post(signIn, credentials)
      await store.save({ accessToken, refreshToken })
    },
    async signOut() {
      const tokens = await store.load()
      await store.save(undefined)
      if (tokens !== undefined && signOut !== undefined) await post(signOut, { token: tokens.refreshToken })
    },
    token: async () => (await store.load())?.accessToken,
    refresh(expired) {
      const locks = (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks
      refreshing ??= (locks === undefined ? exchange(expired) : locks.request(name, () => exchange(expired))).finally(() => {
        refreshing = undefined
      })
      return refreshing
    },
    connect(send) {
      connected ??= send
    }
  }
}

function memoryStore(): TokenStore {
  let tokens: Tokens | undefined
  return {
    load: () => tokens,
    save(next) {
      tokens = next
    }
  }
}
