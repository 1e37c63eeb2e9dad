import { idempotencyStoreContract, memoryStore } from '@concordat/idempotency'
import t from 'tap'

t.test('the store in memory keeps the contract', async (t) => {
  let time = 0
  idempotencyStoreContract(
    (title, run) => t.test(title, run),
    () => memoryStore({ now: () => time }),
    { pass: (milliseconds) => (time += milliseconds) }
  )
})
