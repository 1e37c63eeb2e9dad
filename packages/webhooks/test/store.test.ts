import { casesOf } from '@concordat/test-harness/contract-cases'
import { memoryWebhookStore } from '@concordat/webhooks'
import { webhookStoreContract } from '@concordat/webhooks/testing'
import t from 'tap'

t.test('memoryWebhookStore passes the store contract', async (t) => webhookStoreContract(casesOf(t), memoryWebhookStore))
