// What other tools say about a description. The owner of a service sets its contact and its license; the example and the template have none.
import { lintDocument } from '@concordat/openapi/lint'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { oas } from '@stoplight/spectral-rulesets'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isLong } from './scale.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- any document
type Loose = any

/** Returns what the schema of OpenAPI, Redocly and the lints of this project find in a document. */
export async function validatorFindings(document: Loose): Promise<string[]> {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  return [
    ...(valid ? [] : [`OpenAPI ${JSON.stringify(errors)}`]),
    ...problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
    ...lintDocument(document).map((finding) => JSON.stringify(finding))
  ]
}

/** Returns what the rules of Spectral for OpenAPI find. */
export function spectralFindings(document: object): Promise<string[]> {
  // Examples are checked by `invalidExamples`, in a tenth of the time.
  const examples = isLong ? {} : { 'oas3-valid-media-example': 'off', 'oas3-valid-schema-example': 'off' }
  return findingsOf({ extends: [oas], rules: { 'info-contact': 'off', ...examples } }, document)
}

/**
 * Returns what the OWASP rules for APIs find at places that no waiver names, and the waivers that are not needed. The key of a waiver is a rule and a
 * place in the document, in which `?` is any character, `*` any name and `**` any path; the value is the reason.
 */
export async function owaspFindings(document: object, waived: Readonly<Record<string, string>>): Promise<string[]> {
  const findings = new Set(
    (await resultsOf({ extends: [owasp] }, document)).map(({ code, path }) => `${String(code)} ${placeIn(document, path)}`)
  )
  const patterns = Object.keys(waived).map((waiver) => ({ waiver, pattern: patternOf(waiver) }))
  const unneeded = patterns.filter(({ pattern }) => ![...findings].some((finding) => pattern.test(finding)))
  return [
    ...[...findings].filter((finding) => !patterns.some(({ pattern }) => pattern.test(finding))),
    ...unneeded.map(({ waiver }) => `${waiver}: the waiver is not needed`)
  ]
}

function patternOf(waiver: string) {
  const text = waiver.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${text.replaceAll(/\?|\*+/g, (sign) => (sign === '?' ? '.' : sign === '*' ? '[^/ ]*' : '.*'))}$`)
}

// Spectral resolves references, and finds in each operation again what is wrong with a shared schema.
function placeIn(document: Loose, path: readonly (string | number)[]): string {
  let node = document
  let place: readonly (string | number)[] = []
  for (const key of path) {
    place = [...place, key]
    node = node?.[key]
    while (typeof node?.$ref === 'string' && node.$ref.startsWith('#/')) {
      place = node.$ref.slice(2).split('/')
      node = place.reduce((inner, step) => inner?.[step], document)
    }
  }
  return place.join('/')
}

async function findingsOf(ruleset: object, document: object) {
  return (await resultsOf(ruleset, document)).map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`)
}

function resultsOf(ruleset: object, document: object) {
  const spectral = new Spectral()
  spectral.setRuleset(ruleset as Loose)
  return spectral.run(JSON.stringify(document))
}

/** Returns the examples of a document that do not match their schemas, and how many there are. */
export function invalidExamples(document: Loose): { readonly checked: number; readonly broken: unknown[] } {
  const broken: unknown[] = []
  let checked = 0
  const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema({ components: document.components }, 'document')
  addFormats.default(ajv)
  ajv.addFormat('decimal', true)
  visit(document, (schema) => ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))))
  return { checked, broken }

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
}
