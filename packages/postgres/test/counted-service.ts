// A process for the tests: node counted-service.ts <database> <schema> <behaviour when the store fails>
import { fromPool } from '@concordat/postgres'
import { postgresRateLimits } from '@concordat/postgres/rate-limits'
import { serveCounted } from '@concordat/test-harness/two-processes-services'
import { Pool } from 'pg'

const [connectionString = '', schema = '', whenStoreFails = ''] = process.argv.slice(2)
await serveCounted(postgresRateLimits(fromPool(new Pool({ connectionString })), { schema }), whenStoreFails)
