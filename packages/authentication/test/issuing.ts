import {
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  memoryRevocationStore,
  passwords,
  revocationFeed,
  type TokenClaims,
  type TokenIssuerOptions,
  type TokenUser,
  tokenIssuer
} from '@concordat/authentication'

export const password = 'correct horse battery staple'
export const refreshKeys: readonly string[] = ['0123456789abcdefghijklmnopqrstuv']
const passwordHash = await passwords().hash(password)

/** Creates an issuer on memory stores, with a clock that tests set; `signed` contains the claims of its access tokens. */
export function issuing(wish: Partial<TokenIssuerOptions> = {}) {
  const users: TokenUser[] = [{ id: 'u1', passwordHash, permissions: ['orders:read', 'orders:create'], roles: ['customer'] }]
  const signed: TokenClaims[] = []
  const clock = { now: Date.now() }
  const refreshTokens = memoryRefreshTokenStore()
  const revocations = revocationFeed({ store: memoryRevocationStore() })
  const options: TokenIssuerOptions = {
    sign: async (claims) => `access ${signed.push(claims)}`,
    findUser: (username) => (username === 'ada@example.com' ? users[0] : undefined),
    findUserById: (id) => users.find((user) => user.id === id),
    refreshKeys,
    refreshTokens,
    revocations,
    attemptStore: memoryLoginAttemptStore(),
    now: () => clock.now,
    ...wish
  }
  const issuer = tokenIssuer(options)
  const signIn = () => issuer.issue({ username: 'ada@example.com', password })
  const refresh = (refreshToken: string, clientId?: string) => issuer.issue({ refreshToken }, { clientId })
  return { issuer, users, signed, clock, refreshTokens, revocations, signIn, refresh }
}
