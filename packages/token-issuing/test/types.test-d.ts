import {
  memoryRefreshTokenStore,
  passwords,
  type RefreshTokenStore,
  type TokenIssuerOptions,
  type TokenResponse,
  tokenIssuer
} from '@concordat/token-issuing'
import { expectTypeOf } from 'expect-type'

declare const options: TokenIssuerOptions
const issuer = tokenIssuer(options)
expectTypeOf(issuer.issue({ username: 'ada', password: 'secret' }, { address: '192.0.2.1' })).resolves.toEqualTypeOf<TokenResponse>()
expectTypeOf(issuer.issue({ refreshToken: 'rt_' })).resolves.toEqualTypeOf<TokenResponse>()
expectTypeOf<TokenResponse['tokenType']>().toEqualTypeOf<'Bearer'>()
expectTypeOf<TokenIssuerOptions['sign']>().parameter(0).toExtend<{ readonly sub: string; readonly sid: string }>()
expectTypeOf(memoryRefreshTokenStore()).toEqualTypeOf<RefreshTokenStore>()
expectTypeOf(passwords().compare('a', undefined)).resolves.toEqualTypeOf<'wrong' | 'right' | 'outdated'>()
// @ts-expect-error a password is missing
void issuer.issue({ username: 'ada' })
// @ts-expect-error findUserById is required
tokenIssuer({ ...options, findUserById: undefined })
// @ts-expect-error minLength is a number
passwords({ minLength: '2' })
