import { memoryRevocationStore } from '@concordat/authentication'
import { revocationStoreContract } from '@concordat/authentication/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import t from 'tap'

t.test('passes the revocation contract in memory', async (t) => {
  revocationStoreContract(casesOf(t), () => memoryRevocationStore())
})

t.test('removes expired revocations from memory', async (t) => {
  let now = 0
  const store = memoryRevocationStore(() => now)
  await store.revoke({ kind: 'token', id: 'a', until: 10 })
  now = 10
  await store.revoke({ kind: 'token', id: 'b', until: 20 })
  t.strictSame((await store.read()).revocations, [{ kind: 'token', id: 'b', until: 20 }])
  now = 0
  t.strictSame((await store.read()).revocations, [{ kind: 'token', id: 'b', until: 20 }])
})
