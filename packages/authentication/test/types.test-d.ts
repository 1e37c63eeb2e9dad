import authentication, { type AuthenticationOptions, authenticationErrors } from '@concordat/authentication'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(authentication, { maxPathLength: 512 })
// @ts-expect-error a length is a number
app.register(authentication, { maxPathLength: '512' })
app.get('/', { config: { authentication: false } }, () => 'here')

expectTypeOf<AuthenticationOptions['maxPathLength']>().toEqualTypeOf<number | undefined>()
expectTypeOf(authenticationErrors.definitions).toBeObject()
