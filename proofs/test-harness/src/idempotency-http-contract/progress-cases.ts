import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import { createOrder, expectRefusal, expectReplay, type HttpScene } from './service.ts'

/** Cases of row 24: a request whose handler stores its progress. */
export const progressCases: ContractCases<HttpScene> = {
  'row 24: a retry continues with the progress of the attempts before it, until the response is final': async ({ serve }) => {
    const seen: (string | undefined)[] = []
    const { send } = await serve({
      async handler(request, reply) {
        const { idempotency } = request
        if (idempotency === null) throw new Error('The request has no key.')
        seen.push(idempotency.progress)
        // Longer than what is stored without compression.
        idempotency.progress = seen.length < 3 ? `${idempotency.progress ?? ''}ñ${'x'.repeat(600)}` : undefined
        return createOrder(request, reply)
      }
    })
    const step = `ñ${'x'.repeat(600)}`
    for (let attempt = 1; attempt <= 3; attempt += 1) strictEqual((await send()).headers['idempotency-replayed'], undefined)
    deepStrictEqual(seen, [undefined, step, step + step])
    strictEqual((await send()).headers['idempotency-replayed'], 'true')
    strictEqual(seen.length, 3)
  },
  'row 24: between two attempts, the key belongs to the same request only': async ({ serve }) => {
    const { send, runs } = await serve({
      async handler(request, reply) {
        if (request.idempotency !== null) request.idempotency.progress = runs() === 1 ? 'begun' : undefined
        return createOrder(request, reply)
      }
    })
    await send()
    expectRefusal(await send({ body: { item: 'coffee' } }), 422, 'IDEMPOTENCY_KEY_REUSED')
    const last = await send()
    expectReplay(last, await send())
    strictEqual(runs(), 2)
  },
  'row 24: a handler that fails keeps the progress that it found': async ({ serve }) => {
    const seen: (string | undefined)[] = []
    const { send } = await serve({
      async handler(request, reply) {
        const { idempotency } = request
        if (idempotency === null) throw new Error('The request has no key.')
        seen.push(idempotency.progress)
        if (seen.length === 2) throw new Error('Not now.')
        idempotency.progress = seen.length === 1 ? 'begun' : undefined
        return createOrder(request, reply)
      }
    })
    const statuses = [(await send()).status, (await send()).status, (await send()).status]
    deepStrictEqual(
      [statuses, seen],
      [
        [201, 500, 201],
        [undefined, 'begun', 'begun']
      ]
    )
  },
  'row 24: a progress over the limit is not stored: a retry never runs': async ({ serve }) => {
    const { send, runs } = await serve({
      route: { maxStoredBytes: 100 },
      async handler({ idempotency }) {
        if (idempotency !== null) idempotency.progress = 'x'.repeat(101)
        return 'begun'
      }
    })
    const first = await send()
    if (first.status !== 422) expectRefusal(await send(), 409, 'IDEMPOTENCY_RESPONSE_UNAVAILABLE')
    else strictEqual(first.code, 'IDEMPOTENCY_RESPONSE_TOO_LARGE')
    strictEqual(runs(), 1)
  }
}
