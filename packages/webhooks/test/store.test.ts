import { casesOf } from '@concordat/test-harness/contract-cases'
import { memoryStore, webhookStoreContract } from '@concordat/webhooks'
import t from 'tap'

t.test('memoryStore passes the store contract', async (t) => webhookStoreContract(casesOf(t), memoryStore))
