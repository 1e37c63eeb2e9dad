import { generateKeyPairSync } from 'node:crypto'
import { outsideIssuer } from '@concordat/authentication'
import { migrate } from '@concordat/postgres'
import { openDatabase } from '@concordat/postgres/open'
import { statementsOn } from '@concordat/postgres/rows'
import { type SignInOptions, signIn, signInMigrations } from '@concordat/postgres/sign-in'
import rateLimiting from '@concordat/rate-limiting'
import signInRoutes, { passwords } from '@concordat/token-issuing'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { freshSchema, inMemory, onServer, server } from './database.ts'

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const other = 'Hq2#nB6v-Lx9zTg4+WcK8yRd1mFp5JsU'
const password = 'correct horse battery staple'
const passwordHash = await passwords().hash(password)
// With less memory and fewer passes than a hash of today.
const weakHash = '$argon2id$v=19$m=8192,t=1,p=1$9UGSnM5EIqhvSQRFwstrQw$GFWf+qFS0bifwJr0wfVh261Koc2zSZ1tnUci+h7Dfg4'
const options = { name: 'books', tokenSecrets: [secret], refreshSecrets: [secret] }

const x25519 = generateKeyPairSync('x25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string

type Database = SignInOptions['database']

/** Returns the PGlite of this file, with a schema for this test. */
async function onPGlite(_t?: Test): Promise<{ database: Database; schema: string }> {
  const { database: postgres, schema } = await inMemory()
  return { database: { postgres, ...statementsOn(postgres.client) }, schema }
}

async function onPostgreSQL(t: Test): Promise<{ database: Database; schema: string }> {
  const schema = freshSchema(t)
  const database = await openDatabase({ url: server })
  t.teardown(() => database.close())
  return { database, schema }
}

const kinds = [
  ['PGlite', {}, onPGlite],
  ['PostgreSQL', onServer, onPostgreSQL]
] as const

/** Creates the tables of sign-in and a table of users, in a schema of the test. */
async function prepared(place: ReturnType<typeof onPGlite>, users = 'SELECT 1') {
  const { database, schema } = await place
  await migrate(database.postgres, signInMigrations, { schema })
  await database.query(users.replaceAll('{schema}', schema))
  return { database, schema }
}

/** A service with the routes, which sends requests without a token. */
async function serviceOf(t: Test, database: Database, more: Partial<SignInOptions> & { readonly schema: string }) {
  const { accessTokens, revocations, issuer, routes } = signIn({ ...options, database, ...more })
  await revocations.start()
  t.teardown(() => revocations.close())
  const app = Fastify()
  await app.register(rateLimiting)
  await app.register(signInRoutes, routes)
  const post = async (url: string, payload: object) => {
    const response = await app.inject({ method: 'POST', url, payload })
    return { status: response.statusCode, body: response.json() }
  }
  return { post, issuer, accessTokens, revocations }
}

for (const [kind, where, place] of kinds) {
  t.test(`on ${kind}, users of the default table sign in, refresh and sign out in one call [U3] [U4] [U8]`, where, async (t) => {
    const { database, schema } = await prepared(
      place(t),
      `CREATE TABLE {schema}.users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), email text NOT NULL, password_hash text, roles text[] NOT NULL)`
    )
    const table = `${schema}.users`
    const users = { table }
    const insert = `INSERT INTO ${table} (email, password_hash, roles) VALUES ($1, $2, $3) RETURNING id::text`
    const [ada] = await database.query<{ id: string }>(insert, ['Ada@example.com', passwordHash, ['staff', 'editor']])
    await database.query(insert, ['invited@example.com', null, []])
    const { post, accessTokens, revocations, issuer } = await serviceOf(t, database, { schema, users })

    const signedIn = await post('/tokens', { username: ' ADA@example.com', password })
    t.equal(signedIn.status, 200)
    const claims = await accessTokens.verify(signedIn.body.accessToken)
    t.match(claims, { iss: 'books', aud: 'books', sub: String(ada?.id), roles: ['staff', 'editor'] })
    const refused: readonly (readonly [string, string])[] = [
      ['ada@example.com', 'a wrong password'],
      ['invited@example.com', password],
      ["ada@example.com' OR true --", password],
      ['%', password]
    ]
    for (const [username, given] of refused) t.equal((await post('/tokens', { username, password: given })).status, 401, username)

    await database.query(`UPDATE ${table} SET roles = '{}'`)
    const refreshed = await post('/tokens', { refreshToken: signedIn.body.refreshToken })
    t.equal(refreshed.status, 200)
    t.strictSame((await accessTokens.verify(refreshed.body.accessToken))['roles'], [], 'the roles are read again')
    t.equal((await post('/token-revocations', { token: refreshed.body.refreshToken })).status, 201)
    t.equal((await post('/tokens', { refreshToken: refreshed.body.refreshToken })).status, 401)
    t.ok(revocations.isRevoked(claims))

    const again = await post('/tokens', { username: 'ada@example.com', password })
    await issuer.revokeSubject(ada?.id as string)
    t.equal((await post('/tokens', { refreshToken: again.body.refreshToken })).status, 401)
    const last = await post('/tokens', { username: 'ada@example.com', password })
    await database.query(`DELETE FROM ${table}`)
    t.equal((await post('/tokens', { refreshToken: last.body.refreshToken })).status, 401, 'a user who was deleted')
  })

  t.test(`on ${kind}, the table and its columns can have any names, and one role can be text`, where, async (t) => {
    const { database, schema } = await prepared(
      place(t),
      `CREATE TABLE {schema}."People; ""x""" ("the id" bigint PRIMARY KEY, "Name" text NOT NULL, "select" text NOT NULL, kind text)`
    )
    const table = `${schema}."People; ""x"""`
    const users = { table: `${schema}.People; "x"`, id: 'the id', username: 'Name', passwordHash: 'select', roles: 'kind' }
    await database.query(`INSERT INTO ${table} VALUES (7, 'ada', $1, 'staff'), (8, 'max', $1, NULL)`, [passwordHash])
    const { post, accessTokens } = await serviceOf(t, database, { schema, users })
    const { status, body } = await post('/tokens', { username: 'ada', password })
    t.equal(status, 200)
    t.match(await accessTokens.verify(body.accessToken), { sub: '7', roles: ['staff'] })
    const max = await post('/tokens', { username: 'max', password })
    t.strictSame((await accessTokens.verify(max.body.accessToken))['roles'], [])
  })

  t.test(`on ${kind}, tokens have the claims whose columns have a value, and a refresh reads them again`, where, async (t) => {
    const { database, schema } = await prepared(
      place(t),
      `CREATE TABLE {schema}.users (id serial PRIMARY KEY, email text, password_hash text, roles text[], "the clinic" text, floor integer)`
    )
    const table = `${schema}.users`
    const insert = `INSERT INTO ${table} (email, password_hash, "the clinic", floor) VALUES ('ada', $1, 'north', 2), ('max', $1, NULL, NULL)`
    await database.query(insert, [passwordHash])
    const users = { table, claims: { org: 'the clinic', "a 'quoted' name": 'floor' } }
    const { post, accessTokens } = await serviceOf(t, database, { schema, users })
    const ada = await post('/tokens', { username: 'ada', password })
    t.match(await accessTokens.verify(ada.body.accessToken), { org: 'north', "a 'quoted' name": 2 })
    await database.query(`UPDATE ${table} SET "the clinic" = 'south'`)
    const refreshed = await post('/tokens', { refreshToken: ada.body.refreshToken })
    t.match(await accessTokens.verify(refreshed.body.accessToken), { org: 'south' })
    await database.query(`UPDATE ${table} SET "the clinic" = NULL`)
    const max = await post('/tokens', { username: 'max', password })
    t.notOk('org' in (await accessTokens.verify(max.body.accessToken)), 'no claim without a value')
  })

  t.test(`on ${kind}, a stronger hash replaces a weaker one at the next sign-in [U8]`, where, async (t) => {
    const { database, schema } = await prepared(
      place(t),
      'CREATE TABLE {schema}.users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), email text, password_hash text, roles text[])'
    )
    await database.query(`INSERT INTO ${schema}.users (email, password_hash) VALUES ('ada', $1), ('max', $1)`, [weakHash])
    const { post } = await serviceOf(t, database, { schema, users: { table: `${schema}.users` } })
    t.equal((await post('/tokens', { username: 'ada', password })).status, 200)
    const hashes = await database.query<{ hash: string }>(`SELECT password_hash AS hash FROM ${schema}.users ORDER BY email`)
    t.not(hashes[0]?.hash, weakHash)
    t.equal(hashes[1]?.hash, weakHash, 'of this user only')
    t.equal((await post('/tokens', { username: 'ada', password })).status, 200)
  })
}

t.test('users with the same name cannot sign in, and the error says what is missing', async (t) => {
  const table = 'CREATE TABLE public.users (id serial PRIMARY KEY, email text, password_hash text, roles text[])'
  const { database, schema } = await prepared(onPGlite(), table)
  await database.query("INSERT INTO users (email, password_hash) VALUES ('ada', $1), ('ADA', $1)", [passwordHash])
  const { issuer, post } = await serviceOf(t, database, { schema })
  await t.rejects(issuer.issue({ username: 'ada', password }), {
    message: 'postgres: several users in "users" have the same "email". Create a unique index on lower("email").'
  })
  t.equal((await post('/tokens', { username: 'ada', password })).status, 500)
})

t.test('a service with users elsewhere passes functions, and limits guesses from one address', async (t) => {
  const { database, schema } = await prepared(onPGlite())
  const user = { id: 'u1', passwordHash: weakHash, roles: ['staff'] }
  const rehashed: string[] = []
  const users: SignInOptions['users'] = {
    findUser: (name) => (name === 'ada' ? user : undefined),
    findUserById: () => user,
    onRehash: ({ id }) => void rehashed.push(id)
  }
  const { post, accessTokens } = await serviceOf(t, database, { schema, users })
  const { body } = await post('/tokens', { username: 'ada', password })
  t.match(await accessTokens.verify(body.accessToken), { sub: 'u1', roles: ['staff'] })
  t.strictSame(rehashed, ['u1'])
  t.equal((await post('/tokens', { refreshToken: body.refreshToken })).status, 200)
  const { routes } = signIn({ ...options, database, users })
  t.match(routes.routeConfig?.('issueToken'), { rateLimit: { limit: 20, windowSeconds: 60, scope: 'address' } })
})

t.test('tokens of a former secret stay valid, and those of a secret that was removed do not [U3]', async (t) => {
  const { database, schema } = await prepared(onPGlite())
  const tokens = (tokenSecrets: readonly string[]) => signIn({ ...options, database, schema, tokenSecrets }).accessTokens
  const token = await tokens([secret]).sign({ sub: 'ada' })
  t.match(await tokens([other, secret]).verify(token), { sub: 'ada' })
  await t.rejects(tokens([other]).verify(token), { code: 'INVALID_TOKEN' })
})

t.test('a private key signs tokens that another service verifies with the public key set [U1]', async (t) => {
  const { database, schema } = await prepared(onPGlite())
  const pairs = [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa', { modulusLength: 2048 })
  ]
  const pems = pairs.map(({ privateKey }) => privateKey.export({ format: 'pem', type: 'pkcs8' }) as string)
  for (const [index, algorithm] of (['ES256', 'EdDSA', 'RS256'] as const).entries()) {
    const pem = pems[index] as string
    const { accessTokens } = signIn({ ...options, database, schema, tokenSecrets: [pem, secret] })
    const { keys } = accessTokens.keySet
    t.match(keys, [{ alg: algorithm, use: 'sig', kid: String }], 'not the secret')
    t.notOk('d' in (keys[0] as object), 'no private part')
    const token = await accessTokens.sign({ sub: 'ada' })
    const respond = async () => Response.json(accessTokens.keySet)
    const elsewhere = outsideIssuer({
      issuer: 'books',
      audience: 'books',
      jwksUrl: 'https://books.example/.well-known/jwks.json',
      algorithms: [algorithm],
      fetch: respond
    })
    t.match(await elsewhere.verify(token), { sub: 'ada' }, algorithm)
    const same = signIn({ ...options, database, schema, tokenSecrets: [pem.replaceAll('\n', '\r\n')] })
    t.match(await same.accessTokens.verify(token), { sub: 'ada' }, 'whatever the line ends of the text')
  }
})

t.test('invalid options are errors of one line', async (t) => {
  const { database } = await prepared(onPGlite())
  for (const [wrong, message] of [
    [{ tokenSecret: [] }, 'postgres: options.tokenSecret is unknown. Did you mean options.tokenSecrets?'],
    [{ users: { tabel: 'people' } }, 'postgres: options.users.tabel is unknown. Did you mean options.users.table?'],
    [{ users: { table: '' } }, 'postgres: options.users.table must be the name of a table.'],
    [{ users: { id: 'a\0b' } }, 'postgres: options.users.id must be the name of a column.'],
    [{ users: { claims: { org: '' } } }, 'postgres: options.users.claims.org must be the name of a column.'],
    [
      { users: { findUser: () => undefined, find: 1 } },
      /^postgres: options\.users\.find is unknown\. Use only findUser, findUserById, onRehash\.$/
    ],
    [{ onError: 'log' }, 'postgres: options.onError must be a function that receives an error, but its type is string.'],
    [{ tokenSecrets: ['too short'] }, /needs at least 32/],
    [{ tokenSecrets: undefined }, 'postgres: options.tokenSecrets must be a non-empty array. Add a secret of at least 32 random bytes.'],
    [{ refreshSecrets: [] }, 'postgres: options.refreshSecrets must be a non-empty array. Add a secret of at least 32 random bytes.'],
    [
      { tokenSecrets: [secret, '-----BEGIN PRIVATE KEY-----\nMIGH'] },
      'postgres: options.tokenSecrets[1] cannot be read as a private key. Use PKCS #8 in PEM, as from: openssl genpkey -algorithm ED25519'
    ],
    [{ tokenSecrets: [x25519] }, /cannot be used with ES256/]
  ] as const)
    t.throws(() => signIn({ ...options, database, ...wrong } as never), { message }, String(message))
})

for (const [kind, given, place] of kinds) {
  t.test(`a password that changes while a sign-in computes a stronger hash of the former one stays, on ${kind} [U8]`, given, async (t) => {
    const users = 'CREATE TABLE {schema}.users (id text PRIMARY KEY, email text, password_hash text, roles text[])'
    const { database, schema } = await prepared(place(t), users)
    const table = `${schema}.users`
    await database.query(`INSERT INTO ${table} (id, email) VALUES ('u1', 'ada'), ('u2', 'bob')`)
    const hashOf = async (id: string) =>
      (await database.query<{ hash: string | null }>(`SELECT password_hash AS hash FROM ${table} WHERE id = $1`, [id]))[0]?.hash
    for (const changed of [passwordHash, 'another', null]) {
      await database.query(`UPDATE ${table} SET password_hash = $1`, [weakHash])
      // The password changes as soon as the sign-in has read the user.
      const query: Database['query'] = async (text, values) => {
        const rows = await database.query<never>(text, values)
        if (values?.[0] === 'ada') await database.query(`UPDATE ${table} SET password_hash = $1 WHERE id = 'u1'`, [changed])
        return rows
      }
      const { issuer, revocations } = signIn({ ...options, database: { ...database, query }, schema, users: { table } })
      await revocations.start()
      t.teardown(() => revocations.close())
      for (const username of ['ada', 'bob']) await issuer.checkPassword(username, password)
      t.equal((await hashOf('u1')) ?? null, changed, 'the change stays')
      t.match(await hashOf('u2'), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/, 'the hash of an unchanged password is replaced')
    }
  })
}

for (const [kind, where, place] of kinds) {
  t.test(`on ${kind}, all processes together allow five password resets of a name in an hour`, where, async (t) => {
    const { database, schema } = await prepared(place(t))
    const issuers = Array.from({ length: 4 }, () => signIn({ ...options, database, schema }).issuer)
    const requests = Array.from({ length: 20 }, (_, index) =>
      (issuers[index % 4] as (typeof issuers)[0]).beginPasswordReset(
        index % 2 === 0 ? 'Nobody@example.com' : 'nobody@example.com ',
        async () => {}
      )
    )
    const outcomes = await Promise.allSettled(requests)
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    t.equal(refusals.length, 15)
    for (const refusal of refusals) t.match(refusal, { code: 'PASSWORD_RESETS_EXCEEDED', statusCode: 429 })
    const stored = await database.query<{ key: string }>(`SELECT key FROM ${schema}.login_attempts`)
    t.match(stored, [{ key: /^reset [\w-]{43}$/ }], 'no name is stored')
  })
}
