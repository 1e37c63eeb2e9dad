import { casesOf } from '@concordat/test-harness/contract-cases'
import { memoryStore, webhookStoreContract } from '@concordat/webhooks'
import t from 'tap'

t.test('the store in memory', async (t) => webhookStoreContract(casesOf(t), memoryStore))
