// A process for the tests: node protected-service.ts <address of Redis> <prefix> <client>
import { redisLoginAttemptStore } from '@concordat/redis/login-attempts'
import { redisRefreshTokenStore } from '@concordat/redis/refresh-tokens'
import { redisRevocationStore } from '@concordat/redis/revocations'
import { serveProtected } from '@concordat/test-harness/two-processes-services'
import { connected } from './connected.ts'

const [url = '', prefix = '', client = ''] = process.argv.slice(2)
const redis = await connected(url, client)
await serveProtected({
  refreshTokens: redisRefreshTokenStore(redis, { prefix }),
  revocations: redisRevocationStore(redis, { prefix }),
  attempts: redisLoginAttemptStore(redis, { prefix })
})
