// A process for the tests: node protected-service.ts <database> <schema>
import { fromPool } from '@concordat/postgres'
import { postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import { postgresRefreshTokenStore } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore } from '@concordat/postgres/revocations'
import { serveProtected } from '@concordat/test-harness/two-processes-services'
import { Pool } from 'pg'

const [connectionString = '', schema = ''] = process.argv.slice(2)
const database = fromPool(new Pool({ connectionString, query_timeout: 1000, connectionTimeoutMillis: 1000 }))
await serveProtected({
  refreshTokens: postgresRefreshTokenStore(database, { schema }),
  revocations: postgresRevocationStore(database, { schema }),
  attempts: postgresLoginAttemptStore(database, { schema })
})
