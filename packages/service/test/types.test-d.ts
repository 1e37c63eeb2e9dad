import { openService, readSettings, serve } from '@concordat/service'
import { Type } from '@sinclair/typebox'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const folder = new URL('..', import.meta.url)
const settings = () => readSettings({ folder, secrets: ['TOKEN_SECRETS'], variables: { SEED: Type.Integer(), SHOP: { type: 'string' } } })

expectTypeOf(settings().secrets).toEqualTypeOf<Readonly<Record<'TOKEN_SECRETS', readonly string[]>>>()
expectTypeOf(settings().variables).toEqualTypeOf<{ readonly SEED: number; readonly SHOP: unknown }>()
expectTypeOf(settings().fromVariables(['HOST'], Promise.resolve(1))).resolves.toBeNumber()

// `build` gets what `settings` returns, and `openService` returns the app that it was given.
void serve({
  name: 'Books',
  settings,
  build: async ({ variables, logger }) => {
    expectTypeOf(variables.SEED).toBeNumber()
    const app = Fastify({ logger })
    return openService(app, async (opened) => {
      expectTypeOf(opened({ close() {}, name: 'database' }, (database) => database.close()).name).toBeString()
    })
  }
})
