import idempotency, { type IdempotencyOptions, memoryIdempotencyStore } from '@concordat/idempotency'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(idempotency, { scope: ({ ip }) => ip, store: memoryIdempotencyStore(), lifetimeSeconds: 3600 })
// @ts-expect-error a lifetime is a number of seconds
app.register(idempotency, { lifetimeSeconds: '24h' })
// @ts-expect-error only a route can let requests run without protection
app.register(idempotency, { whenStoreFails: 'dangerouslyBypass' })

app.post('/orders', { config: { idempotency: 'required' } }, (request) => {
  // @ts-expect-error a request without a key has none
  request.idempotency.derivedKey('charge')
  return request.idempotency?.derivedKey('charge')
})
app.post('/notes', { config: { idempotency: { key: 'accepted', waitSeconds: 0.5 } } }, () => 'noted')
app.post('/drafts', { config: { idempotency: 'off' } }, () => 'kept')
// @ts-expect-error it is required, accepted or off
app.post('/lines', { config: { idempotency: true } }, () => 'added')

expectTypeOf<IdempotencyOptions['lifetimeSeconds']>().toEqualTypeOf<number | undefined>()
