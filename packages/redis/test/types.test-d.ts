import type { RevocationStore } from '@concordat/authentication'
import type { RateLimitStore } from '@concordat/rate-limiting'
import { fromIoredis, fromNodeRedis, type Redis } from '@concordat/redis'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { redisRevocationStore } from '@concordat/redis/revocations'
import { expectTypeOf } from 'expect-type'
import { Cluster, Redis as Ioredis } from 'ioredis'
import { createClient, createCluster } from 'redis'

const redis = fromIoredis(new Ioredis())
expectTypeOf(redis).toEqualTypeOf<Redis>()
expectTypeOf(fromNodeRedis(createClient())).toEqualTypeOf<Redis>()
expectTypeOf(fromIoredis(new Cluster([]))).toEqualTypeOf<Redis>()
expectTypeOf(fromNodeRedis(createCluster({ rootNodes: [] }))).toEqualTypeOf<Redis>()
expectTypeOf(redisRateLimitStore(redis)).toEqualTypeOf<RateLimitStore>()
expectTypeOf(redisRevocationStore(redis, { prefix: 'orders' })).toEqualTypeOf<RevocationStore>()
// @ts-expect-error a client must be wrapped first
redisRateLimitStore(new Ioredis())
// @ts-expect-error each client has its own wrapper
fromNodeRedis(new Ioredis())
// @ts-expect-error a prefix must be a string
redisRevocationStore(redis, { prefix: 5 })
