// A process for the tests: node counted-service.ts <database> <schema> <behaviour when the store fails>
import { fromPool } from '@concordat/postgres'
import { postgresRateLimitStore } from '@concordat/postgres/rate-limits'
import { serveCounted } from '@concordat/test-harness/two-processes-services'
import { Pool } from 'pg'

const [connectionString = '', schema = '', whenStoreFails = ''] = process.argv.slice(2)
await serveCounted(postgresRateLimitStore(fromPool(new Pool({ connectionString })), { schema }), whenStoreFails)
