import { memoryStore, webhookStoreContract } from '@concordat/webhooks'
import t from 'tap'

t.test('the store in memory', async (t) => webhookStoreContract((title, run) => t.test(title, run), memoryStore))
