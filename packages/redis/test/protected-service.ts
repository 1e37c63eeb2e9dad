// A process for the tests: node protected-service.ts <address of Redis> <prefix> <client>
import { redisRevocationStore } from '@concordat/redis/revocations'
import { serveProtected } from '@concordat/test-harness/two-processes-services'
import { connected } from './connected.ts'

const [url = '', prefix = '', client = ''] = process.argv.slice(2)
const redis = await connected(url, client)
await serveProtected({ revocations: redisRevocationStore(redis, { prefix }) })
