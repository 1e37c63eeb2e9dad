// The data and the keys of `same` on PostgreSQL, in the tables that the preset created, with as many statements and round trips.
import { hash } from 'node:crypto'
import pg from 'pg'

const columns = `id, name, category_id AS "categoryId", unit_price AS "unitPrice", currency, units_in_stock AS "unitsInStock", discontinued,
  created_at AS "createdAt", updated_at AS "updatedAt"`

export async function onPostgres(databaseUrl) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const rows = async (text, values) => (await pool.query(text, values)).rows
  const data = {
    isPaged: true,
    product: async (id) => (await rows(`SELECT ${columns}, version FROM products WHERE id = $1`, [id]))[0],
    async products(perPage) {
      const found = await rows(`SELECT ${columns} FROM products ORDER BY name, id LIMIT ${Number(perPage) + 1}`)
      return { rows: found.slice(0, perPage), total: found.length }
    },
    async order(client, { customer, items, note }) {
      const insertion = 'INSERT INTO orders (customer, note, items) VALUES ($1, $2, $3) RETURNING id, customer, items, note'
      return (await client.query(insertion, [customer, note ?? null, JSON.stringify(items)])).rows[0]
    },
    async user(name) {
      const [user] = await rows('SELECT id, password_hash AS "passwordHash", roles FROM users WHERE lower(email) = $1 LIMIT 2', [name])
      // The roles of a token give the permissions.
      return user
    },
    // Counts the attempt for the address, for the account from this address, and for the account. A success takes them back.
    async attempt(name, address) {
      const now = Date.now()
      const counted = [
        [`address ${address}`, 9000],
        [`account ${name} ${address}`, 90_000],
        [`account ${name}`, 9000]
      ]
      for (const [key, share] of counted) {
        await rows(
          `INSERT INTO concordat.login_attempts AS stored (key, forgiven_at, result) VALUES ($1, $2::float8 + $3::float8, 0)
           ON CONFLICT (key) DO UPDATE SET forgiven_at = GREATEST(stored.forgiven_at, $2::float8) + $3::float8 RETURNING forgiven_at`,
          [key, now, share]
        )
      }
      return async () => {
        for (const [key, share] of counted)
          await rows('UPDATE concordat.login_attempts SET forgiven_at = forgiven_at - $2::float8 WHERE key = $1', [key, share])
      }
    },
    session: (handle, { sid, sub }) =>
      rows(
        `INSERT INTO concordat.refresh_families (handle, id, subject, client_id, began_at, expires_at, newest, idle_expires_at)
         VALUES ($1, $2, $3, NULL, $4, $5, $1, $5)`,
        [handle, sid, sub, Date.now(), Date.now() + 2_592_000_000]
      )
  }
  return { data, keys: postgresKeys(pool) }
}

/** Claims a key with BEGIN, and stores the response with COMMIT. A key that this process has stored is read first. */
function postgresKeys(pool) {
  const { escapeLiteral } = pg
  const own = new Set()
  const stored = async (client, key, fingerprint) => {
    const { rows } = await client.query(
      `SELECT fingerprint, status, headers, convert_from(body, 'UTF8') AS body FROM concordat.idempotency_keys
       WHERE key = $1 AND expires_at > clock_timestamp()`,
      [key]
    )
    const [found] = rows
    if (found?.fingerprint !== fingerprint || found.status === null) throw new Error('The key is in use.')
    return { status: found.status, location: found.headers.location, body: found.body, isReplay: true }
  }
  return {
    async run(request, work) {
      const key = hash('sha256', `ada ${request.headers['idempotency-key']}`, 'base64url')
      const fingerprint = hash('sha256', `${request.method} ${request.url} ${JSON.stringify(request.body)}`, 'base64url')
      if (own.has(key)) return stored(pool, key, fingerprint)
      const client = await pool.connect()
      try {
        const [, , claim] = await client.query(
          `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 35000;
           INSERT INTO concordat.idempotency_keys (key, fingerprint, token, attempt, lease_until, expires_at)
           SELECT '${key}', '${fingerprint}', nextval('concordat.idempotency_tokens'), 1, now() + interval '30 seconds', now() + interval '1 day'
           WHERE pg_try_advisory_xact_lock(hashtextextended('${key}', 0)) ON CONFLICT (key) DO NOTHING RETURNING token;
           SAVEPOINT work`
        )
        if (claim.rowCount === 0) {
          await client.query('ROLLBACK')
          return await stored(client, key, fingerprint)
        }
        const response = await work(client)
        const headers = JSON.stringify({ 'content-type': 'application/json; charset=utf-8', location: response.location })
        await client.query(
          `UPDATE concordat.idempotency_keys SET status = 201, headers = ${escapeLiteral(headers)}::json,
             body = convert_to(${escapeLiteral(response.body)}, 'UTF8') WHERE key = '${key}'; COMMIT`
        )
        if (own.size >= 100_000) own.clear()
        own.add(key)
        // A retry that waits in another process.
        void pool.query('SELECT pg_notify($1, $2)', ['concordat_idempotency', key])
        return response
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    }
  }
}
