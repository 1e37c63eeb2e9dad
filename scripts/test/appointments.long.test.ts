// An appointments service for clinics, begun by the guides alone, in an empty folder and with the packed packages: resources with fields, a schedule,
// uploads, three languages, clinics as tenants, related resources, search, deletion and restoration, a client, and its own checks. The blocks about schedules and languages are those of their pages, and
// those of appointments/clinics.md are the developer's own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ordinaryRole } from '@concordat/test-harness/database-roles'
import t from 'tap'
import { reachableRegistry } from '../local-registry.ts'
import { blocksOf } from '../markdown.ts'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const skip = (await reachableRegistry()) === undefined && 'this machine cannot reach the registry of npm'
const place = mkdtempSync(join(tmpdir(), 'concordat-appointments-'))
t.teardown(() => rmSync(place, { recursive: true, force: true }))

/** Returns the blocks of a page that write or change files. */
function filesOf(page: string) {
  return blocksOf(readFileSync(join(repository, page), 'utf8'))
    .filter(({ info }) => /^(src|test)\//.test(info))
    .map(({ language, info, text }) => block(`${language} ${info}`, text))
    .join('\n')
}

function block(head: string, text: string) {
  return `\`\`\`${head}\n${text.trim()}\n\`\`\`\n`
}

// What differs with Zod in the blocks of the pages, and in those below.
const zodForms: readonly (readonly [string, string])[] = [
  ["import { Type } from '@sinclair/typebox'", "import { z } from 'zod'"],
  ["input: Type.Object({ day: Type.String({ format: 'date' }) })", 'input: z.toJSONSchema(z.object({ day: z.iso.date() }))'],
  ['input: Type.Null()', "input: { type: 'null' }"],
  [
    'Type.Object({ id: Type.String(), limit: Type.String(), expiry: Type.String() })',
    'z.object({ id: z.string(), limit: z.string(), expiry: z.string() })'
  ],
  ['Type.Object({ title: Type.String({ minLength: 1, maxLength: 80 }) })', 'z.object({ title: z.string().min(1).max(80) })'],
  ['Type.Object({ id: Type.String(), sizeBytes: Type.Integer() })', 'z.object({ id: z.string(), sizeBytes: z.int() })'],
  [
    'Type.Object({ id: Id, ...NewPatient.properties, createdAt: Timestamp })',
    "z.object({ id: Id, ...NewPatient.shape, createdAt: Timestamp }).meta({ id: 'Patient' })"
  ],
  [
    'Type.Object({ id: Id, ...NewPatient.properties, createdAt: Timestamp, deletedAt: Type.Optional(Timestamp) })',
    "z.object({ id: Id, ...NewPatient.shape, createdAt: Timestamp, deletedAt: Timestamp.optional() }).meta({ id: 'Patient' })"
  ]
]

const scans = `
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

const Scan = Type.Object({ id: Type.String(), sizeBytes: Type.Integer() })

export async function scans(app: FastifyInstance) {
  const upload = { scan: { types: ['image/png', 'application/pdf'], maxBytes: 5_000_000 } } as const
  app.post(
    '/scans',
    {
      config: { permissions: ['books:write'], upload, transaction: true, idempotency: 'accepted' },
      schema: { body: Type.Object({ title: Type.String({ minLength: 1, maxLength: 80 }) }), response: { 201: Scan } }
    },
    async ({ upload: { scan } }, reply) => reply.created(\`/scans/\${scan.id}\`, { id: scan.id, sizeBytes: scan.size })
  )
}`

const wiring = `
@@
 import { storeMigrations } from '@concordat/postgres/stores'
+import { fileMigrations } from '@concordat/postgres/files'
@@
-const migrations = [...signInMigrations, ...storeMigrations, ...own]
+const migrations = [...signInMigrations, ...storeMigrations, ...fileMigrations, ...own]`

const registration = `
@@
 import { versions } from './versions.ts'
+import { postgresFileStore } from '@concordat/postgres/files'
+import { scans } from './scans.ts'
@@
         ...postgresStores(database.postgres),
+        files: postgresFileStore(database.postgres),
@@
       await v1.register(authors, { database })
+      await v1.register(scans)`

// What a translator does, with the English texts.
const translate = `
import { readFileSync, writeFileSync } from 'node:fs'

const read = (language) => JSON.parse(readFileSync(\`locales/\${language}.json\`, 'utf8'))
const english = read('en')
for (const language of ['de', 'es']) {
  const texts = read(language)
  for (const key of Object.keys(texts)) texts[key] ||= english[key] ?? english[key.replace(/_\\w+$/, '_other')]
  writeFileSync(\`locales/\${language}.json\`, JSON.stringify(texts, null, 2))
}`

function guideFor(schema: string) {
  const steps = [
    block(
      'sh',
      `npm create concordat clinic -- --yes --schema ${schema} --with jobs
cd clinic
npm install @concordat/files @concordat/client file-type
npx concordat add resource practitioners name:string:unique
npx concordat add resource patients name:string bornOn:date email:string:optional
npx concordat add resource appointments startsAt:date-time patient:ref:patients practitioner:ref:practitioners note:string:optional`
    ),
    filesOf('docs/schedules.md'),
    // Users sign in, so each route says who may use it.
    filesOf('docs/languages.md')
      .replace("['en', 'de', 'de-AT']", "['en', 'es', 'de']")
      .replace('{ schema:', "{ config: { public: true, tenant: 'none' }, schema:"),
    block('ts src/scans.ts', scans),
    block('diff src/database.ts', wiring),
    block('diff src/app.ts', registration),
    filesOf('scripts/test/appointments/clinics.md'),
    block('js translate.mjs', translate),
    block('sh', 'npx concordat texts es de\nnode translate.mjs\nnpx concordat texts --check'),
    block('sh server', 'npm start'),
    block(
      'sh',
      `echo iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg== | base64 -d > dot.png
token=$(curl -s http://127.0.0.1:3000/v1/tokens --json '{"username":"ada@example.com","password":"correct horse battery staple"}' | grep -o '"accessToken":"[^"]*' | cut -d'"' -f4)
curl -s http://127.0.0.1:3000/v1/scans -H "Authorization: Bearer $token" -F title=Dot -F scan=@dot.png -H 'Idempotency-Key: "first"'`
    ),
    block('json output', '{ "data": { "sizeBytes": 70 } }'),
    block(
      'sh',
      `curl -s http://127.0.0.1:3000/v1/openapi > openapi.json
npx concordat lint openapi.json --with @concordat/versioning
npx concordat client openapi.json --out src/clinic.ts
node test/application.ts`
    ),
    block('text output', 'The application has listed, searched, changed and restored.'),
    block('sh stopped', 'DATA_DIR=data npx concordat schedules'),
    block('text output', 'nightly-report'),
    block('sh', 'DATA_DIR=data npx concordat tenants check --shared clinics --shared users --shared authors --shared books'),
    block('text output', 'Tenants are kept apart in public.'),
    block('sh', 'npm run check\nnpm run lint\nnpm test')
  ].join('\n')
  return schema === 'zod' ? zodForms.reduce((text, [typebox, zod]) => text.replaceAll(typebox, zod), steps) : steps
}

// The service's own tests run on PostgreSQL, as an ordinary role, and on PGlite.
const server = process.env['TEST_DATABASE_URL']
const engines = [
  ['typebox', server && (await ordinaryRole(t, server))],
  ['zod', undefined]
] as const

for (const [schema, url] of engines)
  t.test(`with ${schema}, every step of the guides works in one service`, { skip }, async (t) => {
    const page = join(place, `${schema}.md`)
    writeFileSync(page, guideFor(schema))
    const env = { ...process.env, TEST_DATABASE_URL: url }
    const { code, output } = await run(process.execPath, [join(repository, 'scripts/guides.ts'), page], { env })
    t.equal(code, 0, output)
  })
