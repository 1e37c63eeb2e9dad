// Compiled, never run. Code that must not compile is marked, and the compiler rejects a mark without an error.

import type { Server } from 'node:http'
import transportSecurity, { type TransportSecurityServerPart, transportSecurityServerOptions } from '@concordat/transport-security'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify'

expectTypeOf(transportSecurityServerOptions()).toEqualTypeOf<TransportSecurityServerPart>()
expectTypeOf(
  Fastify({ ...transportSecurityServerOptions({ requestTimeoutSeconds: 5 }), logger: true, trustProxy: ['10.0.0.0/8'] })
).toExtend<FastifyInstance>()
expectTypeOf<TransportSecurityServerPart>().toExtend<FastifyHttpOptions<Server>>()

const app = Fastify()
app.register(transportSecurity, {
  overrides: { 'x-frame-options': false },
  remoteAddress: 'none'
})
app.register(transportSecurity, {
  dangerouslyAllowHttp: 'loopback',
  publicUrl: 'https://a.example',
  allowedHosts: ['*.a.example'],
  hiddenFields: ['iban']
})
app.get('/page', { config: { contentSecurityPolicy: { scriptSrc: ["'self'"] }, directAccess: true } }, async () => '')
app.get('/text', { config: { contentSecurityPolicy: "default-src 'self'" } }, async () => '')
// @ts-expect-error – unknown directive
export const unknown: FastifyContextConfig['contentSecurityPolicy'] = { scriptSource: ["'self'"] }
// @ts-expect-error – sources must be a list
app.get('/list', { config: { contentSecurityPolicy: { scriptSrc: "'self'" } } }, async () => '')
// @ts-expect-error – must be loopback or a boolean
app.register(transportSecurity, { dangerouslyAllowHttp: 'localhost' })
// @ts-expect-error – a hop count is not allowed
transportSecurityServerOptions({ trustProxy: 1 })
// @ts-expect-error – the id of a client is never used
transportSecurityServerOptions({ requestIdFrom: 'client' })
// @ts-expect-error – the option name includes the unit
transportSecurityServerOptions({ requestTimeout: 5 })
