import type { ApiKeyStore, LoginAttemptStore, RefreshTokenStore, RevocationStore } from '@concordat/authentication'
import type { RateLimitStore } from '@concordat/rate-limiting'
import { fromIoredis, fromNodeRedis, type Redis } from '@concordat/redis'
import { redisApiKeys } from '@concordat/redis/api-keys'
import { redisLoginAttempts } from '@concordat/redis/login-attempts'
import { redisRateLimits } from '@concordat/redis/rate-limits'
import { redisRefreshTokens } from '@concordat/redis/refresh-tokens'
import { redisRevocations } from '@concordat/redis/revocations'
import { expectTypeOf } from 'expect-type'
import { Cluster, Redis as Ioredis } from 'ioredis'
import { createClient, createCluster } from 'redis'

const redis = fromIoredis(new Ioredis())
expectTypeOf(redis).toEqualTypeOf<Redis>()
expectTypeOf(fromNodeRedis(createClient())).toEqualTypeOf<Redis>()
expectTypeOf(fromIoredis(new Cluster([]))).toEqualTypeOf<Redis>()
expectTypeOf(fromNodeRedis(createCluster({ rootNodes: [] }))).toEqualTypeOf<Redis>()
expectTypeOf(redisApiKeys(redis)).toEqualTypeOf<ApiKeyStore>()
expectTypeOf(redisLoginAttempts(redis)).toEqualTypeOf<LoginAttemptStore>()
expectTypeOf(redisRateLimits(redis)).toEqualTypeOf<RateLimitStore>()
expectTypeOf(redisRefreshTokens(redis)).toEqualTypeOf<RefreshTokenStore>()
expectTypeOf(redisRevocations(redis, { prefix: 'orders' })).toEqualTypeOf<RevocationStore>()
// @ts-expect-error a client must be wrapped first
redisRefreshTokens(new Ioredis())
// @ts-expect-error each client has its own wrapper
fromNodeRedis(new Ioredis())
// @ts-expect-error a prefix must be a string
redisRevocations(redis, { prefix: 5 })
