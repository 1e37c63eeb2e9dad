export { fromIoredis } from './ioredis.ts'
export { fromNodeRedis } from './node-redis.ts'
export type { Redis } from './redis.ts'
export { checkRedis } from './redis.ts'
