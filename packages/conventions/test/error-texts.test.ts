// Every text of an error is true for the response that has it: in every language, for every code and every status.
import { STATUS_CODES } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { outsideIssuer } from '@concordat/authentication'
import conventions, { serverOptions } from '@concordat/conventions'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import httpMethods from '@concordat/http-methods'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { fillTemplate, type Messages } from '@concordat/plugin-kit/texts'
import underPressure from '@fastify/under-pressure'
import Fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'

const root = join(import.meta.dirname, '../../..')
const languages = ['en', 'es']

interface Listing {
  readonly definitions: Readonly<Record<string, { readonly message: Messages }>>
  readonly fieldMessages: Readonly<Record<string, Messages>>
  readonly create: (code: string, options: object) => ApiError
}

// The lists that docs/errors.md shows.
async function allLists(): Promise<[name: string, list: Listing][]> {
  const { errorListsOf } = await import(pathToFileURL(join(root, 'scripts/errors-page.ts')).href)
  return errorListsOf(root)
}

/** What a text says about its response, and the header of which it is true. */
const references: readonly (readonly [RegExp, string])[] = [
  [/\bRetry-After\b/, 'retry-after'],
  [/\bAllow\b/, 'allow'],
  [/\bWWW-Authenticate\b/, 'www-authenticate'],
  [/\bRequest-Id\b/, 'request-id']
]

function isTrue(t: Test, { headers, json }: LightMyRequestResponse, title: string) {
  const { error } = json()
  const { status, message, errors = [] } = error as { status: number; message: string; errors?: { field: string; message: string }[] }
  for (const [mention, header] of references) if (mention.test(message)) t.match(headers[header], /./, `${title}: ${header} is there`)
  if (message.includes('`errors`')) t.ok(errors.length > 0, `${title}: errors are there`)
  for (const text of [message, ...errors.map((entry) => entry.message)]) {
    t.match(text, /\S/, title)
    t.notMatch(text, /\{\w+/, `${title}: no placeholder`)
  }
  if (status === 401) t.match(headers['www-authenticate'], /^\w+ realm=/, title)
  if (status === 422) t.ok(errors.length > 0, `${title}: a field`)
  if (status === 503) t.match(headers['retry-after'], /^\d+$/, title)
  t.not(headers['allow'], '', `${title}: no empty Allow`)
}

type Service = readonly [name: string, create: (addRoutes: (app: FastifyInstance) => void) => Promise<FastifyInstance>]

const withPreset =
  (authentication: object | false): Service[1] =>
  async (addRoutes) => {
    const app = Fastify(serverOptions())
    await app.register(conventions, {
      publicUrl: 'https://api.example.com',
      versions: { 1: {} },
      authentication,
      transportSecurity: { dangerouslyAllowHttp: 'loopback' }
    } as never)
    addRoutes(app)
    return app
  }

const services: readonly Service[] = [
  [
    'error-catalogue alone',
    async (addRoutes) => {
      const app = Fastify(errorCatalogueServerOptions())
      await app.register(errorCatalogue, { locale: ({ headers }) => String(headers['accept-language']) })
      addRoutes(app)
      return app
    }
  ],
  [
    'with http-methods',
    async (addRoutes) => {
      const app = Fastify(errorCatalogueServerOptions())
      await app.register(errorCatalogue, { locale: ({ headers }) => String(headers['accept-language']) })
      await app.register(httpMethods)
      addRoutes(app)
      return app
    }
  ],
  ['the preset', withPreset(false)],
  [
    'the preset with authentication',
    withPreset({
      issuers: [outsideIssuer({ issuer: 'https://id.example', audience: 'a' })],
      permissions: ['a:read'],
      outside: { '/': 'public' }
    })
  ]
]

const statuses = Object.keys(STATUS_CODES)
  .map(Number)
  .filter((status) => status >= 400)

const open: object = { public: true }

async function refuse() {
  throw Object.assign(new Error('secret'), { statusCode: 405 })
}

// What a text must not claim of an error of which only the status is known.
const untrue = /HTTP\b|Authorization|token|Content-Type|ETag|uppercase|Authenticating again|Retry-After(?! is)|mayúsculas|mal formada/i

t.test('the text of an error of which only the status is known claims nothing else, for every status [X1] [G1]', async (t) => {
  for (const [service, create] of services) {
    const app = await create((instance) => {
      for (const status of statuses) {
        instance.get(`/thrown/${status}/:id`, { config: open }, async () => {
          throw Object.assign(new Error('secret'), { statusCode: status })
        })
        instance.post(`/sent/${status}`, { config: open }, (_request, reply) => void reply.code(status).send({ own: true }))
      }
    })
    for (const status of statuses) {
      for (const language of languages) {
        const headers = { 'accept-language': language }
        const ways: InjectOptions[] = [
          { url: `/thrown/${status}/7?a=1`, headers },
          { url: `/thrown/${status}/7`, headers },
          { method: 'POST', url: `/sent/${status}`, payload: {}, headers }
        ]
        for (const [at, way] of ways.entries()) {
          const response = await app.inject(way)
          const title = `${service}: ${status} ${language}`
          const { error } = response.json()
          t.equal(error.status, status, title)
          isTrue(t, response, title)
          // Those are about the request itself, and a 503 has always Retry-After.
          if (![417, 431, 503, 505].includes(status)) t.notMatch(error.message, untrue, title)
          if (status === 422) t.equal(error.errors[0].field, ['query', 'path', 'body'][at], title)
          if (status === 401)
            t.match(response.headers['www-authenticate'], service === 'the preset with authentication' ? /^Bearer / : /^Custom /, title)
        }
      }
    }
    await app.close()
  }
})

t.test('a header that a plugin set for its status stays: Retry-After, Allow, WWW-Authenticate', async (t) => {
  for (const [service, create] of services) {
    for (const [status, header, value] of [
      [503, 'retry-after', '50'],
      [429, 'retry-after', '50'],
      [405, 'allow', 'PATCH'],
      [401, 'www-authenticate', 'Digest realm="a"']
    ] as const) {
      const app = await create((instance) => {
        instance.get('/set', { config: open }, async (_request, reply) => {
          reply.header(header, value)
          throw Object.assign(new Error('secret'), { statusCode: status })
        })
      })
      t.match(await app.inject('/set'), { statusCode: status, headers: { [header]: value } }, `${service}: ${header}`)
      await app.close()
    }
  }
})

t.test('Retry-After of @fastify/under-pressure stays', async (t) => {
  for (const [service, create] of services) {
    const app = await create((instance) => {
      void instance.register(underPressure, { healthCheck: async () => false, healthCheckInterval: 60_000, retryAfter: 50 })
      void instance.register(async (child) => child.get('/busy', { config: open }, async () => 'ok'))
    })
    t.match(await app.inject('/busy'), { statusCode: 503, headers: { 'retry-after': '50' } }, service)
    await app.close()
  }
})

t.test('Allow of a 405 that a handler sends has the other methods of the URL, and is left out where there are none', async (t) => {
  for (const [service, create] of services) {
    const app = await create((instance) => {
      instance.get('/several', { config: open }, refuse)
      instance.delete('/several', { config: open }, async () => 'ok')
      instance.get('/single', { config: open }, refuse)
    })
    const hasOptions = service !== 'error-catalogue alone'
    t.equal((await app.inject('/several')).headers['allow'], hasOptions ? 'DELETE, OPTIONS' : 'DELETE', service)
    t.equal((await app.inject('/single')).headers['allow'], hasOptions ? 'OPTIONS' : undefined, service)
    await app.close()
  }
})

// How packages create the errors whose text needs more than its params: the file, the function, and its arguments.
const ending = { sunsetAt: 1_800_000_000_000, documentation: 'https://a.example' }
const created: Readonly<Record<string, readonly [file: string, name: string, ...args: unknown[]]>> = {
  METHOD_NOT_ALLOWED: ['http-methods/src/errors.ts', 'methodNotAllowed', 'PUT', ['GET']],
  RATE_LIMIT_EXCEEDED: ['rate-limiting/src/errors.ts', 'rateLimitExceeded', { limit: 1, windowSeconds: 60 }, 9],
  IDEMPOTENCY_IN_PROGRESS: ['idempotency/src/errors.ts', 'inProgress', 1000],
  IDEMPOTENCY_STORAGE_EXCEEDED: ['idempotency/src/errors.ts', 'storageExceeded', 1000],
  IDEMPOTENCY_KEY_REUSED: ['idempotency/src/errors.ts', 'keyReused'],
  IDEMPOTENCY_RESPONSE_TOO_LARGE: ['idempotency/src/errors.ts', 'responseTooLarge', 9],
  INVALID_QUERY_PARAMETERS: ['pagination-query/src/errors.ts', 'invalidQuery', [{ field: 'perPage', key: 'duplicate' }]],
  CURSOR_INVALID: ['pagination-query/src/errors.ts', 'invalidQuery', [{ field: 'after', key: 'cursorInvalid' }]],
  CURSOR_MISMATCH: ['pagination-query/src/errors.ts', 'invalidQuery', [{ field: 'after', key: 'cursorMismatch' }]],
  CURSOR_EXPIRED: ['pagination-query/src/errors.ts', 'invalidQuery', [{ field: 'after', key: 'cursorExpired', params: { seconds: 9 } }]],
  INVALID_TOKEN_REQUEST: ['token-issuing/src/errors.ts', 'bothGrants'],
  PASSWORD_RESET_INVALID: ['token-issuing/src/errors.ts', 'passwordResetInvalid'],
  PASSWORD_UNACCEPTABLE: ['token-issuing/src/errors.ts', 'passwordUnacceptable', 'body.password', { key: 'passwordIllFormed' }],
  VERSION_BROWNOUT: ['versioning/src/errors.ts', 'versionBrownout', 'v1', ending, { until: 1_700_000_060_000 }, 1_700_000_000_000],
  NOT_ACCEPTABLE: ['content-negotiation/src/errors.ts', 'notAcceptable', ['text/csv']]
}

const placesOf = (text: Messages['en']) => JSON.stringify(text).match(/(?<=\{)\w+(?=[,}])/g) ?? []

// Where the packages create these, they name the fields of the request.
const namedFields = new Set([
  'BATCH_INVALID',
  'JOB_INPUT_INVALID',
  'WEBHOOK_URL_REFUSED',
  'WEBHOOK_EVENT_TYPE_UNKNOWN',
  'WEBHOOK_RANGE_INVALID',
  'JOB_KEY_REUSED'
])

t.test('every text of every code of every package is true for its response, in every language, with its field [X3] [G1]', async (t) => {
  const lists = await allLists()
  let thrown: unknown
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue, {
    include: lists.map(([, list]) => list) as never,
    locale: ({ headers }) => String(headers['accept-language'])
  })
  app.post('/', async () => {
    throw thrown
  })
  const respond = (language: string) => app.inject({ method: 'POST', url: '/', payload: {}, headers: { 'accept-language': language } })
  const seen = new Set<string>()
  for (const [name, { definitions, create }] of lists) {
    for (const [code, { message }] of Object.entries(definitions)) {
      t.strictSame(Object.keys(message), languages, code)
      t.not(message['es'], message['en'], `${code} is translated`)
      const [file, creator, ...args] = created[code] ?? []
      const params = Object.fromEntries(placesOf(message.en).map((place) => [place, '7']))
      const module = file === undefined ? undefined : await import(pathToFileURL(join(root, 'packages', file)).href)
      thrown = file?.startsWith(`${name}/`) ? module[creator as string](...args) : create(code, { params })
      t.equal((thrown as ApiError).code, code)
      seen.add(code)
      for (const language of languages) {
        const response = await respond(language)
        t.equal(response.json().error.code, code)
        isTrue(t, response, `${name}: ${code} ${language}`)
        const { status, errors = [] } = response.json().error
        const isGeneral = code === 'VALIDATION_FAILED' || namedFields.has(code)
        if (status === 422 && !isGeneral)
          for (const { field } of errors) t.match(field, /^(body|query|header)\../, `${code}: names a field`)
      }
    }
  }
  t.strictSame(
    [...Object.keys(created), ...namedFields].filter((code) => !seen.has(code)),
    [],
    'every row is of a code'
  )
})

t.test('every text of a field is complete in every language, with the same placeholders', async (t) => {
  for (const [name, { fieldMessages }] of await allLists()) {
    for (const [key, messages] of Object.entries(fieldMessages)) {
      t.strictSame(Object.keys(messages), languages, `${name}: ${key}`)
      t.not(messages['es'], messages['en'], `${name}: ${key} is translated`)
      for (const count of [0, 1, 2, 1_000_000]) {
        const params = Object.fromEntries(placesOf(messages.en).map((place) => [place, count]))
        for (const language of languages) t.notMatch(fillTemplate(messages[language] as string, params, language), /\{/, `${name}: ${key}`)
      }
    }
  }
})
