import telemetry, { openTelemetry, type TelemetryOptions } from '@concordat/telemetry'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
await app.register(telemetry, { prometheus: true, scrapers: ['10.1.0.0/16'] })
// @ts-expect-error: a misspelt option
await app.register(telemetry, { prometeus: true })

expectTypeOf<TelemetryOptions['traces']>().toEqualTypeOf<boolean | undefined>()
expectTypeOf(openTelemetry).returns.resolves.toEqualTypeOf<() => void>()
