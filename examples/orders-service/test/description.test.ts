import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenapiDocument, requireCompatible } from '@concordat/openapi/diff'
import { lintDocument } from '@concordat/openapi/lint'
import { isLong } from '@concordat/test-harness/scale'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { oas } from '@stoplight/spectral-rulesets'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { startService } from './service.ts'

// Each test knows the shape of the values that it reads.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

// In the released form: with rate limits.
const { call } = await startService(t, { rateLimit: 'on', publicUrl: undefined })
const documents = await Promise.all(
  ['v1', 'v2'].map(async (version) => [version, (await call('GET', `/${version}/openapi`)).body] as const)
)
const released = join(import.meta.dirname, '../released')

// OWASP rules that do not apply to this service, each with the reason.
const ofResponses = 'The rule requires limits in responses too, whose size the service controls. Requests have limits.'
const ofEverybody = 'Categories and products are public, and a client that requests a token does not have one yet.'
const waived: Readonly<Record<string, string>> = {
  'owasp:api2:2023-read-restricted': ofEverybody,
  'owasp:api2:2023-write-restricted': ofEverybody,
  'owasp:api4:2023-array-limit': ofResponses,
  'owasp:api4:2023-integer-format': 'Integers have bounds, which are more precise than the size of a machine word.',
  'owasp:api4:2023-integer-limit': ofResponses,
  'owasp:api4:2023-string-limit': ofResponses,
  'owasp:api4:2023-string-restricted': 'Names, notes and messages are free text.',
  'owasp:api8:2023-define-cors-origin': 'Pages of other origins may not read the responses, so the responses have no CORS headers.',
  'owasp:api8:2023-define-error-responses-401': 'Public operations never respond with 401. All others declare it.',
  'owasp:api9:2023-inventory-access': 'The operator decides whether a server is internal.'
}

// The owner of a service sets the contact; the template has none. A test below checks that examples match their schemas, in a
// tenth of the time.
const spectralRules = {
  'info-contact': 'off',
  ...(!isLong && { 'oas3-valid-media-example': 'off', 'oas3-valid-schema-example': 'off' })
}

for (const [version, document] of documents) {
  t.test(`${version} is valid OpenAPI 3.1 for Redocly, Spectral and the schema of OpenAPI itself [V7]`, async (t) => {
    t.equal((await new Validator().validate(structuredClone(document))).valid, true)
    const problems = await lintFromString({ source: JSON.stringify(document), config: await createConfig({ extends: ['recommended'] }) })
    t.strictSame(
      problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
      []
    )
    // The same code generates both versions, and Spectral takes as long as all the others.
    if (isLong || version === 'v2') t.strictSame(await spectralFindings({ extends: [oas], rules: spectralRules }, document), [])
    t.strictSame(lintDocument(document), [])
  })

  t.test(`${version} is compatible with the released description [V3] [P4]`, async () => {
    requireCompatible(JSON.parse(readFileSync(join(released, `${version}.json`), 'utf8')) as OpenapiDocument, document)
  })
}

t.test('the description follows the OWASP rules for APIs, except those that are waived with a reason', async (t) => {
  // The same code generates both versions.
  const document = documents.at(-1)?.[1]
  const findings = await spectralFindings({ extends: [owasp] }, document)
  t.strictSame(
    findings.filter((finding) => waived[ruleOf(finding)] === undefined),
    []
  )
  t.strictSame([...new Set(findings.map(ruleOf))].toSorted(), Object.keys(waived), 'every waiver is needed')
})

function ruleOf(finding: string) {
  return finding.slice(0, finding.indexOf(' '))
}

async function spectralFindings(ruleset: object, document: object) {
  const spectral = new Spectral()
  spectral.setRuleset(ruleset as Loose)
  return (await spectral.run(JSON.stringify(document))).map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`)
}

t.test('every example in the descriptions is valid against its schema', async (t) => {
  const broken: unknown[] = []
  let checked = 0
  for (const [, document] of documents) {
    const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({ components: document.components }, 'document')
    addFormats.default(ajv)
    ajv.addFormat('decimal', true)
    visit(document, (schema) => ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))))
  }
  t.strictSame(broken, [])
  t.ok(checked > 120, `${checked} examples`)

  function visit(value: Loose, compile: (schema: object) => ValidateFunction) {
    if (typeof value !== 'object' || value === null) return
    if (value.schema !== undefined && (value.example !== undefined || value.examples !== undefined)) {
      const validate = compile(value.schema)
      for (const example of value.examples === undefined ? [value.example] : Object.values(value.examples).map((one: Loose) => one.value)) {
        checked += 1
        if (!validate(example)) broken.push([example, validate.errors])
      }
    }
    for (const inner of Object.values(value)) visit(inner, compile)
  }
})
