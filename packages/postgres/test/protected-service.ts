// A process for the tests: node protected-service.ts <database> <schema>
import { fromPool } from '@concordat/postgres'
import { postgresLoginAttempts } from '@concordat/postgres/login-attempts'
import { postgresRefreshTokens } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations } from '@concordat/postgres/revocations'
import { serveProtected } from '@concordat/test-harness/two-processes-services'
import { Pool } from 'pg'

const [connectionString = '', schema = ''] = process.argv.slice(2)
const database = fromPool(new Pool({ connectionString, query_timeout: 1000, connectionTimeoutMillis: 1000 }))
await serveProtected({
  refreshTokens: postgresRefreshTokens(database, { schema }),
  revocations: postgresRevocations(database, { schema }),
  attempts: postgresLoginAttempts(database, { schema })
})
