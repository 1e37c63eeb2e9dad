// Compiled, never run: what must not compile is marked, and the compiler refuses a mark without an error.

import type { Server } from 'node:http'
import transportSecurity, { answerHeaders, type TransportServerPart, transportServerOptions } from '@concordat/transport-security'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify'

expectTypeOf(transportServerOptions()).toEqualTypeOf<TransportServerPart>()
expectTypeOf(
  Fastify({ ...transportServerOptions({ requestTimeoutSeconds: 5 }), logger: true, trustProxy: ['10.0.0.0/8'] })
).toExtend<FastifyInstance>()
expectTypeOf<TransportServerPart>().toExtend<FastifyHttpOptions<Server>>()
expectTypeOf(answerHeaders()()).toEqualTypeOf<Record<string, string>>()

const app = Fastify()
app.register(transportSecurity, {
  headers: 'full',
  overrides: { 'x-frame-options': false },
  serializers: { order: ({ id }: { id: string }) => id }
})
// @ts-expect-error – no such set
app.register(transportSecurity, { headers: 'none' })
// @ts-expect-error – the unit is in the name
transportServerOptions({ requestTimeout: 5 })
// @ts-expect-error – one line or two
transportServerOptions({ logLinesPerRequest: 3 })
