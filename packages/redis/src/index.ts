export { fromIoredis } from './ioredis.ts'
export { fromNodeRedis } from './node-redis.ts'
export type { Redis, StoreOptions } from './redis.ts'
export { checkRedis } from './redis.ts'
