import { type Case, cases, type Expected } from './case.ts'
import { hookPaths } from './failing-hooks.ts'
import { errorHandlers } from './foreign-handlers.ts'
import { badPayloads, ownErrors } from './odd-replies.ts'
import { get, post, request } from './request-bytes.ts'
import { failingWays, thrownStatuses, thrownThings } from './throwing-routes.ts'

const internal: Expected = { status: 500, code: 'INTERNAL_ERROR' }
const timedOut: Expected = { status: 503, code: 'HANDLER_TIMEOUT' }
const notFound: Expected = { status: 404, code: 'RESOURCE_NOT_FOUND' }
const ok: Expected = { status: 200 }

/** The code of an error that names only its status. */
const codes: Record<number, string | readonly string[]> = {
  400: 'MALFORMED_REQUEST',
  401: 'AUTHENTICATION_REQUIRED',
  403: 'FORBIDDEN',
  404: 'RESOURCE_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  408: 'REQUEST_TIMEOUT',
  409: 'CONFLICT',
  410: 'GONE',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  417: 'EXPECTATION_FAILED',
  418: 'I_M_A_TEAPOT',
  422: 'VALIDATION_FAILED',
  425: 'TOO_EARLY',
  429: 'RATE_LIMIT_EXCEEDED',
  431: 'HEADERS_TOO_LARGE',
  451: 'UNAVAILABLE_FOR_LEGAL_REASONS',
  499: 'MALFORMED_REQUEST',
  500: 'INTERNAL_ERROR',
  501: 'METHOD_NOT_IMPLEMENTED',
  502: 'UPSTREAM_ERROR',
  503: 'SERVICE_UNAVAILABLE',
  504: 'UPSTREAM_TIMEOUT'
}

// An unregistered status is not sent (rule X2): the nearest registered status of its class replaces it.
const ofStatus = (status: number): Expected => ({ status: status === 499 ? 400 : status, code: codes[status] ?? '' })

/** Every value that can be thrown, from every place in a handler. */
export const thrownCases: readonly Case[] = [
  ...Object.keys(thrownThings).flatMap((name): Case[] => [
    { name: `a handler throws ${name}`, row: /^(status|headers)-/.test(name) ? 35 : 34, send: get(`/v1/throws/${name}`), expect: internal },
    {
      name: `a promise rejects with ${name}`,
      row: /^(status|headers)-/.test(name) ? 35 : 34,
      send: get(`/v1/rejects/${name}`),
      expect: internal
    }
  ]),
  ...thrownStatuses.map(
    (status): Case => ({
      name: `a handler throws an error with the status ${status}`,
      row: 35,
      send: get(`/v1/throws-status/${status}`),
      expect: ofStatus(status)
    })
  ),
  ...failingWays.map(
    (way): Case => ({
      name: `a handler ${way}`,
      row: 34,
      send: get(`/v1/fails/${way}`),
      expect: way === 'sends-with-status' ? { status: [500, 502], code: ['INTERNAL_ERROR', 'UPSTREAM_ERROR'] } : internal
    })
  ),
  ...['after-early-hints', 'after-headers-were-set', 'after-a-location', 'after-a-trailer'].map(
    (way): Case => ({ name: `a handler fails ${way}`, row: 34, send: get(`/v1/fails/${way}`), expect: internal })
  ),
  { name: 'a handler fails for HEAD', row: 34, send: request('HEAD', '/v1/throws/error'), expect: internal },
  ...['throws-after-send', 'rejects-after-send', 'sends-twice'].map(
    (path): Case => ({ name: `a handler ${path}`, row: 34, send: get(`/v1/${path}`), expect: ok })
  )
]

/** Each hook fails in each way. */
export const hookCases: readonly Case[] = [
  ...hookPaths.map((path): Case => ({ name: `the hook ${path}`, row: 31, send: get(`/v1/hooks/${path}`), expect: internal })),
  ...[
    'onSend/only-once',
    'onSend/after-an-error',
    'onSend/number',
    'onSend/object',
    'onSend/sets-500',
    'preSerialization/circular',
    'onError/throws',
    'onError/rejects',
    'onResponse/rejects-after-an-error'
  ].map((path): Case => ({ name: `the hook ${path}`, row: 31, send: get(`/v1/hooks/${path}`), expect: internal })),
  { name: 'the hook onSend for HEAD', row: 31, send: request('HEAD', '/v1/hooks/onSend/rejects'), expect: internal },
  {
    name: 'the hook preParsing with a failing stream',
    row: 31,
    send: post('/v1/hooks/preParsing/failing-stream', '{}'),
    expect: { status: [400, 500], code: ['MALFORMED_REQUEST', 'INTERNAL_ERROR'] }
  },
  { name: 'a hook that never continues', row: 38, send: get('/v1/hooks/preHandler/never'), expect: timedOut },
  { name: 'the hook onTimeout', row: 37, send: get('/v1/hooks/onTimeout/rejects'), expect: timedOut },
  ...['onResponse/throws', 'onResponse/rejects'].map(
    (path): Case => ({ name: `the hook ${path}`, row: 31, send: get(`/v1/hooks/${path}`), expect: ok })
  )
]

/** Replies that cannot be sent, replies in another format, and missing replies. */
export const replyCases: readonly Case[] = [
  ...Object.keys(badPayloads).map(
    (name): Case => ({
      name: `the payload ${name}`,
      row: /header|redirect|trailer|length/.test(name) ? 31 : /stream|response/.test(name) ? 36 : 33,
      send: get(`/v1/payloads/${name}`),
      expect: internal
    })
  ),
  ...Object.entries(ownErrors).map(
    ([name, [status]]): Case => ({
      name: `an error of the handler's own: ${name}`,
      row: 28,
      send: get(`/v1/own-errors/${name}`),
      expect: ofStatus(status)
    })
  ),
  ...cases(28, internal, {
    "an error of the handler's own in HEAD": request('HEAD', '/v1/own-errors/html'),
    "a stream of the handler's own in HEAD": request('HEAD', '/v1/own-errors/stream')
  }),
  ...Object.entries(errorHandlers).flatMap(([name, [status]]): Case[] => {
    const expect = name === 'never' ? timedOut : ofStatus(status)
    const row = /throws|rejects/.test(name) ? 30 : 29
    return [
      { name: `a child context whose error handler ${name}`, row, send: get(`/v1/child-handlers/${name}/fails`), expect },
      { name: `a route whose error handler ${name}`, row, send: get(`/v1/route-handlers/${name}`), expect }
    ]
  }),
  ...['404', '4xx', 'default'].map(
    (key): Case => ({ name: `a response schema for ${key} that does not fit`, row: 32, send: get(`/v1/schemas/${key}`), expect: notFound })
  ),
  { name: 'a response schema for 5xx that does not fit', row: 32, send: get('/v1/schemas/5xx'), expect: internal },
  { name: 'a handler that never replies', row: 38, send: get('/v1/never/sync'), expect: timedOut },
  ...cases(37, timedOut, {
    'a promise that never settles': get('/v1/never/async'),
    'a handler that replies too late': get('/v1/late/sends'),
    'a handler that rejects too late': get('/v1/late/rejects'),
    'HEAD of a handler that never replies': request('HEAD', '/v1/never/async')
  })
]
