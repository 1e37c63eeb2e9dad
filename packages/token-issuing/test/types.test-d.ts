import {
  memoryRefreshTokenStore,
  type PasswordVerdict,
  passwords,
  type RefreshTokenStore,
  type TokenClaims,
  type TokenIssuerOptions,
  type TokenRequest,
  type TokenResponse,
  tokenIssuer
} from '@concordat/token-issuing'
import { expectTypeOf } from 'expect-type'

declare const options: TokenIssuerOptions
const issuer = tokenIssuer(options)
expectTypeOf(issuer.issue({ username: 'ada', password: 'secret' }, { address: '192.0.2.1' })).resolves.toEqualTypeOf<TokenResponse>()
expectTypeOf(issuer.issue({ refreshToken: 'rt_' })).resolves.toEqualTypeOf<TokenResponse>()
expectTypeOf<TokenResponse['tokenType']>().toEqualTypeOf<'Bearer'>()
expectTypeOf<TokenRequest>().toExtend<object>()
expectTypeOf<TokenIssuerOptions['sign']>().parameter(0).toEqualTypeOf<TokenClaims>()
expectTypeOf(memoryRefreshTokenStore()).toEqualTypeOf<RefreshTokenStore>()
expectTypeOf(passwords().compare('a', undefined)).resolves.toEqualTypeOf<PasswordVerdict>()
// @ts-expect-error a password is missing
void issuer.issue({ username: 'ada' })
// @ts-expect-error findUserById is required
tokenIssuer({ ...options, findUserById: undefined })
// @ts-expect-error iterations is a number
passwords({ iterations: '2' })
