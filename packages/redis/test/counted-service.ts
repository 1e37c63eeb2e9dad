// A process for the tests: node counted-service.ts <address of Redis> <prefix> <client> <behaviour when the store fails>
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { serveCounted } from '@concordat/test-harness/two-processes-services'
import { connected } from './connected.ts'

const [url = '', prefix = '', client = '', whenStoreFails = ''] = process.argv.slice(2)
await serveCounted(redisRateLimitStore(await connected(url, client), { prefix }), whenStoreFails)
