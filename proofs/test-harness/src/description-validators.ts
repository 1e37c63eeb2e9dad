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

const form = 'owasp:api4:2023-string-restricted'
const cors = 'owasp:api8:2023-define-cors-origin'
const prose = 'The value is free text.'
const syntax = 'A specification of HTTP defines the syntax, which a pattern does not express.'
const noOrigins = 'Pages of other origins may not read the responses, so the responses have no CORS headers.'
const notOfResponse = 'The rule takes this for the headers of a response.'

/** The places of every service of this project where an OWASP rule does not apply, each with the reason: for {@link owaspFindings}. */
export const waivedInAll: Readonly<Record<string, string>> = {
  'owasp:api2:2023-write-restricted paths/~1v*~1tokens/post/security': 'A client that requests a token does not have one yet.',
  'owasp:api2:2023-write-restricted paths/~1v*~1token-revocations/post/security': 'The token that is revoked is the credential.',
  'owasp:api8:2023-define-error-responses-401 paths/~1v*~1token-revocations/post/responses': 'A public operation never responds with 401.',
  'owasp:api9:2023-inventory-access servers/0': 'The operator decides whether a server is internal.',
  [`${cors} components/responses/*/headers`]: noOrigins,
  [`${cors} paths/*/*/responses/*/headers`]: noOrigins,
  [`${cors} webhooks/*/post/responses/*/headers`]: 'The receiver of a webhook is not a browser.',
  [`${cors} components/headers`]: notOfResponse,
  [`${cors} components/schemas/*Batch/properties/headers`]: notOfResponse,
  [`${cors} components/schemas/New*Batch/properties/operations/items/properties/headers`]: notOfResponse,
  [`${form} components/headers/Accept*/schema`]: syntax,
  [`${form} components/headers/Cache-Control/schema`]: syntax,
  [`${form} components/headers/RateLimit*/schema`]: syntax,
  [`${form} components/headers/Vary/schema`]: syntax,
  [`${form} components/headers/WWW-Authenticate/schema`]: syntax,
  [`${form} paths/*/*/parameters/Accept-Language/schema`]: syntax,
  [`${form} paths/*/*/parameters/If-Match/schema`]: syntax,
  [`${form} paths/*/get/parameters/If-None-Match/schema`]: syntax,
  [`${form} paths/*/get/parameters/If-Modified-Since/schema`]: syntax,
  [`${form} paths/*/get/parameters/Prefer/schema`]: syntax,
  [`${form} paths/*/get/parameters/after/schema`]: 'A cursor is opaque, and is refused unless the service signed it.',
  [`${form} paths/*/*/parameters/id/schema`]: 'An id that is not one of a job is 404 with the code of jobs.',
  [`${form} components/schemas/ErrorDetail/properties/message`]: prose,
  [`${form} components/schemas/FieldError/properties/field`]: 'It repeats names that the client sent.',
  [`${form} components/schemas/FieldError/properties/message`]: prose,
  [`${form} components/schemas/Link/properties/rel`]: 'It is a registered name or a URI (RFC 8288).',
  [`${form} components/schemas/Link/properties/method`]: syntax,
  [`${form} components/schemas/*Meta/properties/version`]: 'A service can name its versions.',
  [`${form} components/schemas/*/properties/error/properties/message`]: prose,
  [`${form} components/schemas/NewToken/properties/username`]: 'The service decides what a name is.',
  [`${form} components/schemas/NewToken/properties/password`]: 'A password can be any text.',
  [`${form} components/schemas/NewToken/properties/refreshToken`]: 'The response to a text that is not a token is 401.',
  [`${form} components/schemas/NewTokenRevocation/properties/token`]: 'A text that is not a token is accepted (RFC 7009).',
  [`${form} components/schemas/Token/properties/accessToken`]: 'An access token is opaque for clients (RFC 6749).',
  [`${form} components/schemas/*WebhookSubscription*/properties/description`]: prose,
  [`${form} components/schemas/NewWebhookSubscription/properties/url`]: 'The service parses it, and says what is wrong.',
  [`${form} components/schemas/WebhookSubscriptionChanges/properties/url`]: 'The service parses it, and says what is wrong.',
  [`${form} components/schemas/NewWebhookSubscription/properties/eventTypes/items`]: 'The service says which types exist.',
  [`${form} components/schemas/WebhookSubscriptionChanges/properties/eventTypes/items`]: 'The service says which types exist.',
  [`${form} components/schemas/New*Batch/properties/operations/items/properties/path`]: syntax,
  [`${form} components/schemas/New*Batch/properties/operations/items/properties/headers/additionalProperties`]: syntax,
  [`${form} components/schemas/*Batch/properties/headers/additionalProperties`]: syntax
}

/** The same of a version whose errors can be problem documents. */
export const waivedForProblems: Readonly<Record<string, string>> = {
  [`${form} components/schemas/Problem*/properties/detail`]: prose,
  [`${form} components/schemas/ProblemDocument/properties/version`]: 'A service can name its versions in any way.',
  [`${form} components/schemas/ProblemError/properties/field`]: 'It repeats names that the client sent.',
  [`${form} components/schemas/ProblemError/properties/parameter`]: 'It repeats names that the client sent.'
}

/**
 * Returns what the OWASP rules for APIs find at places that no waiver names, and the waivers that are not needed. The key of a waiver is a rule and a
 * place in the document: a JSON pointer without its first slash, with the name of a parameter in place of its index. In it, `*` is any part of one name;
 * the value is the reason.
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
  return new RegExp(`^${waiver.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '[^/ ]*')}$`)
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
  return place.map((key, index) => nameOf(key, place.slice(0, index))).join('/')

  function nameOf(key: string | number, before: readonly (string | number)[]) {
    const parent = before.reduce((inner: Loose, step) => inner?.[step], document)
    const name = Array.isArray(parent) && before.at(-1) === 'parameters' ? parent[Number(key)].name : key
    return String(name).replaceAll('~', '~0').replaceAll('/', '~1')
  }
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
