import type { FastifyInstance, InjectOptions } from 'fastify'

/** A request of the own tests of the service, and the response that they expect. Headers that are not listed may be there too. */
export interface Case {
  readonly name: string
  readonly request: InjectOptions
  readonly status: number
  /** A JSON value, or a text. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A response, with the header fields that its case lists. */
export interface Result {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

const json = { 'content-type': 'application/json' }
const tea = { id: 1, title: 'Tea', hours: 3, owner: 'ada' }
const upload = [
  '--edge',
  'Content-Disposition: form-data; name="picture"; filename="tea.png"',
  'Content-Type: image/png',
  '',
  'bytes',
  '--edge--',
  ''
].join('\r\n')
const multipart = { 'content-type': 'multipart/form-data; boundary=edge' }
const post = (url: string, payload: object | string, headers: Record<string, string> = json): InjectOptions => ({
  method: 'POST',
  url,
  headers,
  payload
})
const put = (url: string, payload: object | string, headers: Record<string, string> = json): InjectOptions => ({
  ...post(url, payload, headers),
  method: 'PUT'
})

/** The own tests of the service, in the order in which the requests are sent, with the cookies of one browser. */
export const cases: readonly Case[] = [
  { name: 'text', request: { url: '/health' }, status: 200, body: 'well', headers: { 'content-type': 'text/plain; charset=utf-8' } },
  { name: 'page', request: { url: '/' }, status: 200, body: '<h1>Tasks</h1>', headers: { 'content-type': 'text/html' } },
  { name: 'thrown error', request: { url: '/failing' }, status: 500, body: { message: 'Internal Server Error' } },
  { name: 'unknown path', request: { url: '/nothing' }, status: 404, body: { message: 'Not Found' } },
  { name: 'without a session', request: { url: '/tasks' }, status: 401, body: { message: 'Sign in first.' } },
  { name: 'wrong code', request: post('/sign-ins', { user: 'ada', code: '1' }), status: 403, body: { message: 'The code is wrong.' } },
  {
    name: 'sign-in without a code',
    request: post('/sign-ins', { user: 'ada' }),
    status: 400,
    body: { message: "body must have required property 'code'" }
  },
  { name: 'sign-in', request: post('/sign-ins', { user: 'grace', code: '1906' }), status: 200, body: { user: 'grace' } },
  {
    name: 'sign-in by a form',
    request: post('/sign-ins', 'user=ada&code=1815', { 'content-type': 'application/x-www-form-urlencoded' }),
    status: 303,
    headers: { location: '/tasks' }
  },
  { name: 'creation', request: post('/tasks', { title: 'Tea', hours: 3 }), status: 201, body: tea, headers: { location: '/tasks/1' } },
  {
    name: 'second creation',
    request: post('/tasks', { title: 'Milk', hours: 2 }),
    status: 201,
    body: { id: 2, title: 'Milk', hours: 2, owner: 'ada' }
  },
  { name: 'duplicate', request: post('/tasks', { title: 'Tea', hours: 1 }), status: 409, body: { message: 'A task has this title.' } },
  {
    name: 'invalid body',
    request: post('/tasks', { title: '', hours: 1 }),
    status: 400,
    body: { message: 'body/title must NOT have fewer than 1 characters' }
  },
  { name: 'malformed JSON', request: post('/tasks', '{'), status: 400, body: { message: /JSON/ } },
  {
    name: 'too large body',
    request: post('/tasks', { title: 'x'.repeat(3000) }),
    status: 413,
    body: { message: 'Request body is too large' }
  },
  {
    name: 'unknown media type',
    request: post('/tasks', '<task/>', { 'content-type': 'application/xml' }),
    status: 415,
    body: { message: /./ }
  },
  { name: 'item', request: { url: '/tasks/1' }, status: 200, body: tea },
  { name: 'missing item', request: { url: '/tasks/99' }, status: 404, body: { message: 'The task does not exist.' } },
  { name: 'invalid parameter', request: { url: '/tasks/tea' }, status: 400, body: { message: 'params/id must be integer' } },
  { name: 'list', request: { url: '/tasks?minHours=3&unknown=1' }, status: 200, body: [tea] },
  { name: 'list as HTML', request: { url: '/tasks?minHours=3', headers: { accept: 'text/html' } }, status: 200, body: [tea] },
  { name: 'head', request: { method: 'HEAD', url: '/tasks/1' }, status: 200, body: '' },
  { name: 'options', request: { method: 'OPTIONS', url: '/tasks/1' }, status: 404, body: { message: 'Not Found' } },
  { name: 'unsupported method', request: put('/tasks/1', {}), status: 404, body: { message: 'Not Found' } },
  {
    name: 'coerced change',
    request: { ...post('/tasks/2', { hours: '4', color: 'red' }), method: 'PATCH' },
    status: 200,
    body: { id: 2, title: 'Milk', hours: 4, owner: 'ada' }
  },
  {
    name: 'change',
    request: { ...post('/tasks/2', { hours: 5 }), method: 'PATCH' },
    status: 200,
    body: { id: 2, title: 'Milk', hours: 5, owner: 'ada' }
  },
  {
    name: 'plain text',
    request: put('/tasks/2/title', 'Oat milk', { 'content-type': 'text/plain' }),
    status: 200,
    body: { id: 2, title: 'Oat milk', hours: 5, owner: 'ada' }
  },
  { name: 'upload', request: put('/tasks/1/picture', upload, multipart), status: 204, body: '' },
  {
    name: 'picture',
    request: { url: '/tasks/1/picture', headers: { accept: 'image/png' } },
    status: 200,
    body: 'bytes',
    headers: { 'content-type': 'image/png' }
  },
  { name: 'missing picture', request: { url: '/tasks/2/picture' }, status: 404, body: { message: 'The task has no picture.' } },
  { name: 'report', request: { url: '/reports/totals' }, status: 200, body: { tasks: 2, hours: 8 } },
  {
    name: 'report as CSV',
    request: { url: '/reports/tasks.csv', headers: { accept: 'text/csv' } },
    status: 200,
    body: /^Tea\r\n/,
    headers: { 'content-type': 'text/csv' }
  },
  {
    name: 'report of tasks',
    request: { url: '/reports/tasks?unknown=1' },
    status: 200,
    body: [tea, { id: 2, title: /milk/i, hours: 5, owner: 'ada' }]
  },
  { name: 'deletion', request: { method: 'DELETE', url: '/tasks/2' }, status: 204, body: '' },
  { name: 'sign-out', request: { method: 'DELETE', url: '/sign-ins' }, status: 204, body: '' },
  { name: 'after sign-out', request: { url: '/tasks/1' }, status: 401, body: { message: 'Sign in first.' } }
]

/** Sends the requests of all cases, and returns their results by name. */
export async function resultsOf(app: FastifyInstance): Promise<Map<string, Result>> {
  const results = new Map<string, Result>()
  let cookies: Record<string, string> = {}
  for (const { name, request, headers: listed = {} } of cases) {
    const { statusCode, headers, body, cookies: set } = await app.inject({ ...request, cookies })
    cookies = { ...cookies, ...Object.fromEntries(set.map((cookie) => [cookie.name, cookie.value])) }
    results.set(name, {
      status: statusCode,
      body: String(headers['content-type']).startsWith('application/json') && body !== '' ? JSON.parse(body) : body,
      headers: Object.fromEntries(Object.keys(listed).map((header) => [header, headers[header]]))
    })
  }
  return results
}
