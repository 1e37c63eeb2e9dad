import { mock } from 'node:test'
import {
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  type RefreshTokenStore,
  type TokenIssuerOptions,
  type TokenUser,
  tokenIssuer
} from '@concordat/token-issuing'

export const password = 'correct horse battery staple'
export const refreshKeys: readonly string[] = ['Jq3vZ8mB1xT6yW0rLd5uKc9nHs2gPf7a']
const passwordHash = await passwords().hash(password)

type IssuerRevocation = Parameters<TokenIssuerOptions['revocations']['revoke']>[0]
type TokenClaims = Parameters<TokenIssuerOptions['sign']>[0]
type RevocableClaims = Pick<TokenClaims, 'sub' | 'iat'> & { readonly [Name in 'jti' | 'sid']?: string | undefined }

/** Creates revocations that take effect immediately, in the memory of this process. */
function memoryRevocations() {
  const revoked: IssuerRevocation[] = []
  return {
    isRevoked: ({ jti, sid, sub, iat }: RevocableClaims) =>
      revoked.some(({ kind, id, issuedBefore = 0 }) => {
        if (kind === 'token') return id === jti
        if (kind === 'session') return id === sid
        return (kind === 'everything' || id === sub) && iat * 1000 < issuedBefore
      }),
    revoke: async (revocation: IssuerRevocation) => void revoked.push(revocation)
  }
}

interface Input extends Partial<TokenIssuerOptions> {
  readonly refreshTokens?: RefreshTokenStore
}

// Of this process. The time stands still from the first issuer on.
const clock = {
  get now() {
    return Date.now()
  },
  set now(time) {
    mock.timers.setTime(time)
  }
}

/** Creates an issuer on memory stores, at a time that tests set; `signed` contains the claims of its access tokens. */
export function issuing({ refreshTokens = memoryRefreshTokenStore(), ...input }: Input = {}) {
  const users: TokenUser[] = [{ id: 'u1', passwordHash, permissions: ['orders:read', 'orders:create'], roles: ['customer'] }]
  const signed: TokenClaims[] = []
  const { now } = clock
  mock.timers.reset()
  mock.timers.enable({ apis: ['Date'], now })
  const revocations = memoryRevocations()
  const options: TokenIssuerOptions = {
    sign: async (claims) => `access ${signed.push(claims)}`,
    findUser: (username) => (username === 'ada@example.com' ? users[0] : undefined),
    findUserById: (id) => users.find((user) => user.id === id),
    refreshKeys,
    stores: { refreshTokens, loginAttempts: memoryLoginAttemptStore() },
    revocations,
    ...input
  }
  const issuer = tokenIssuer(options)
  const signIn = () => issuer.issue({ username: 'ada@example.com', password })
  const refresh = (refreshToken: string, clientId?: string) => issuer.issue({ refreshToken }, { clientId })
  return { options, issuer, users, signed, clock, refreshTokens, revocations, signIn, refresh }
}
