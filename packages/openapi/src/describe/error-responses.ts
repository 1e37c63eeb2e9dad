import { hash } from 'node:crypto'
import { effects, retries } from '@concordat/plugin-kit/api-error'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { maxLinkLengths } from '@concordat/plugin-kit/links'
import { formsOf } from '@concordat/plugin-kit/texts'
import type { DescribedRoute } from '../document/described-route.ts'
import type { MediaType, Response } from '../document/document.ts'
import { pascalCase } from '../document/words.ts'
import { problemContent } from './problem-documents.ts'
import type { DescribedError } from './published-facts.ts'
import { references } from './response-headers.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/**
 * Returns the component schemas that the responses of a version share: links (K1), metadata (E1) and errors (E4). `root` is the URL of the version
 * in examples.
 */
export function commonSchemas(version: string, root: string): Readonly<Record<'Link' | 'Meta' | 'FieldError' | 'ErrorDetail', JsonSchema>> {
  return {
    Link: {
      type: 'object',
      description: 'A link to a resource or an action.',
      required: ['rel', 'href', 'method'],
      properties: {
        // As long as envelope lets a handler make them, and error-catalogue a client.
        rel: { ...text('The link relation type (RFC 8288).', 'self'), maxLength: maxLinkLengths.rel },
        href: {
          type: 'string',
          format: 'uri',
          maxLength: maxLinkLengths.href,
          description: 'The absolute URL of the target.',
          examples: [root]
        },
        method: { ...text('The method to use on the target.', 'GET'), maxLength: maxLinkLengths.method }
      }
    },
    Meta: {
      type: 'object',
      description: 'Metadata of the response.',
      required: ['version', 'timestamp'],
      properties: {
        version: { ...text('The version of the API.', version), maxLength: 64 },
        timestamp: { type: 'string', format: 'date-time', description: 'The time at which the response was created.' }
      }
    },
    FieldError: {
      type: 'object',
      description: 'An invalid part of the request.',
      required: ['field', 'message'],
      properties: {
        field: {
          ...text('The path of the invalid value. It begins with the part of the request: body, query, header or path.', 'body.name'),
          maxLength: 1024
        },
        message: { ...text('A human-readable description of what is wrong.'), maxLength: 2048 }
      }
    },
    ErrorDetail: {
      type: 'object',
      description: 'What went wrong. Programs compare `code`; people read `message`.',
      required: ['status', 'error', 'message', 'code', 'retry', 'effect'],
      properties: {
        status: { type: 'integer', description: 'The HTTP status code.', minimum: 400, maximum: 599 },
        error: { ...text('The reason phrase of the status code, or `ValidationError`.'), pattern: "^[A-Z][A-Za-z' -]{2,63}$" },
        message: {
          ...text('What is wrong and what to do next, in the language that Accept-Language selects.'),
          maxLength: 2048
        },
        code: { type: 'string', pattern: '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$', maxLength: 100, description: 'The machine-readable error code.' },
        retry: {
          type: 'string',
          enum: [...retries],
          description:
            'What the client can do: send the same request `later`, with the same Idempotency-Key; correct what was wrong and send it, `changed`, with a new key; or `never` send it again.'
        },
        effect: {
          type: 'string',
          enum: [...effects],
          description: 'What the request has changed: `none`, nothing; `done`, everything; `unknown`, perhaps a part.'
        },
        errors: {
          type: 'array',
          maxItems: 100,
          items: { $ref: '#/components/schemas/FieldError' },
          description: 'Each invalid part of the request.'
        }
      }
    }
  }
}

function text(description: string, example?: string): JsonSchema {
  return { type: 'string', description, ...(example !== undefined && { examples: [example] }) }
}

// The headers that HTTP defines for errors, by status code.
const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept', 'Accept-Patch', 'Accept-Post'],
  429: ['Retry-After'],
  503: ['Retry-After']
}

/** The codes that a route of the version lists itself. The others follow from the protocol. */
export function ownErrorsOf(routes: readonly DescribedRoute[]): ReadonlySet<string> {
  return new Set(routes.flatMap(({ config }) => (config?.openapi || {}).errors ?? []))
}

/**
 * Returns the extension `x-errors`: for each code in the error responses of a version, what a client can do with the request, what the request can have
 * changed, and whether the service defines the code for some of its routes.
 */
export function errorFacts(
  responses: Readonly<Record<string, Response>>,
  errors: ReadonlyMap<string, DescribedError>,
  ownErrors: ReadonlySet<string>
): Readonly<Record<string, object>> {
  const codes = Object.values(responses).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}))
  const facts = [...new Set(codes)].toSorted().flatMap((code) => {
    const error = errors.get(code)
    if (error === undefined) return []
    const { retry, effect } = error
    const effects = effect === undefined ? ['none', 'unknown'] : [effect]
    return [[code, { ...(ownErrors.has(code) && { own: true }), retry, effects }]]
  })
  return Object.fromEntries(facts)
}

/**
 * Returns the error responses of an operation by status code, each with its possible error codes (rules E5, X3). The codes that routes list themselves
 * are first.
 */
export function errorResponses(
  errors: readonly DescribedError[],
  version: string,
  root: string,
  ownErrors: ReadonlySet<string>,
  areProblems: boolean
): Record<string, Response> {
  const place = ({ code }: DescribedError) => `${ownErrors.has(code) ? 0 : 1}${code}`
  const sorted = errors.toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
  const byStatus = Map.groupBy(sorted, ({ statusCode }) => statusCode)
  return Object.fromEntries([...byStatus].map(([status, group]) => [status, errorResponse(status, group, version, root, areProblems)]))
}

/**
 * Returns the component name of an error response, which follows from its content alone, so that it never changes when a route is added: its only
 * error code, or else its reason phrase with a hash of its codes and headers.
 */
export function errorResponseName(status: string, response: Response): string {
  const codes = Object.keys(response.content?.['application/json']?.examples ?? {}).toSorted()
  const headers = Object.keys(response.headers ?? {})
  const usual = headersOfStatus[Number(status)] ?? []
  const name = pascalCase(codes.length === 1 ? String(codes[0]).toLowerCase() : reasonOf(Number(status)))
  if (codes.length === 1 && headers.every((header) => usual.includes(header))) return name
  return `${name}_${hash('sha256', [...codes, ...headers.toSorted()].join()).slice(0, 6)}`
}

function errorResponse(status: number, group: readonly DescribedError[], version: string, root: string, areProblems: boolean): Response {
  const codes = { type: 'object', properties: { code: { type: 'string', enum: group.map(({ code }) => code) } } }
  const content: MediaType = {
    schema: {
      type: 'object',
      required: ['error', '_links', '_meta'],
      properties: {
        error: {
          allOf: [{ $ref: '#/components/schemas/ErrorDetail' }, codes]
        },
        _links: { type: 'array', maxItems: 1, items: { $ref: '#/components/schemas/Link' } },
        _meta: { $ref: '#/components/schemas/Meta' }
      }
    },
    examples: Object.fromEntries(group.map((one) => [one.code, { summary: one.remedy, value: exampleOf(one, version, root) }]))
  }
  return {
    description: group.map(({ code, remedy }) => `\`${code}\`: ${remedy}`).join(' '),
    ...(headersOfStatus[status] !== undefined && { headers: references(headersOfStatus[status]) }),
    content: {
      'application/json': content,
      ...(areProblems && problemContent(codes))
    }
  }
}

function exampleOf({ code, statusCode, message, validation, retry, effect = 'none' }: DescribedError, version: string, root: string) {
  const sentence = formsOf(message.en)['other']?.replaceAll(/\{\w+(?:, \w+)?\}/g, '…')
  return {
    error: {
      status: statusCode,
      error: validation === true ? 'ValidationError' : reasonOf(statusCode),
      message: sentence,
      code,
      retry,
      effect,
      ...(statusCode === 422 && { errors: [{ field: 'body', message: sentence }] })
    },
    _links: [{ rel: 'self', href: root, method: 'GET' }],
    _meta: { version, timestamp: '2026-01-31T12:00:00.000Z' }
  }
}

function reasonOf(status: number) {
  return STATUS_CODES[status] ?? 'Error'
}
