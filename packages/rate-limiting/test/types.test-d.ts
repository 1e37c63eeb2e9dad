import rateLimiting from '@concordat/rate-limiting'
