// Compiled, never run: what must not compile is marked, and the compiler refuses a mark without an error.

import type { Server } from 'node:http'
import transportSecurity, {
  answerHeaders,
  type ContentSecurityPolicy,
  type TransportServerPart,
  transportServerOptions
} from '@concordat/transport-security'
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
app.register(transportSecurity, {
  dangerouslyAllowHttp: 'loopback',
  publicUrl: 'https://a.example',
  allowedHosts: ['*.a.example'],
  hiddenFields: ['iban']
})
app.get('/page', { config: { contentSecurityPolicy: { scriptSrc: ["'self'"] }, directAccess: true } }, async () => '')
app.get('/text', { config: { contentSecurityPolicy: "default-src 'self'" } }, async () => '')
// @ts-expect-error – no such directive
export const unknown: ContentSecurityPolicy = { scriptSource: ["'self'"] }
// @ts-expect-error – sources are a list
app.get('/list', { config: { contentSecurityPolicy: { scriptSrc: "'self'" } } }, async () => '')
// @ts-expect-error – this machine, or everyone
app.register(transportSecurity, { dangerouslyAllowHttp: 'localhost' })
// @ts-expect-error – proxies are named, not counted
transportServerOptions({ trustProxy: 1 })
// @ts-expect-error – no client is believed
transportServerOptions({ requestIdFrom: 'client' })
// @ts-expect-error – no such set
app.register(transportSecurity, { headers: 'none' })
// @ts-expect-error – the unit is in the name
transportServerOptions({ requestTimeout: 5 })
// @ts-expect-error – one line or two
transportServerOptions({ logLinesPerRequest: 3 })
