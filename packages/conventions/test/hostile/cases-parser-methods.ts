import { type Case, cases, type Expected } from './case.ts'
import { host, request } from './request-bytes.ts'

const notImplemented: Expected = { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }

/** Methods that the parser of Node.js does not support. */
export const parserMethodCases: readonly Case[] = [
  ...['BREW', 'get', 'Get', 'FOO', 'GETS', 'X', 'M-POST', 'VERSION-CONTROL'].map(
    (method): Case => ({
      name: `the method ${method}`,
      row: 5,
      send: request(method, '/v1/things'),
      expect: { ...notImplemented, closes: true }
    })
  ),
  ...cases(
    5,
    { ...notImplemented, closes: true },
    {
      'an unknown method on an unknown path': request('BREW', '/nowhere'),
      'an unknown method with a body': request('BREW', '/v1/things', { body: '{"a":1}' }),
      'an unknown method without Host': 'BREW /v1/things HTTP/1.1\r\n\r\n',
      'an unknown method on the asterisk': request('BREW', '*')
    }
  ),
  {
    name: 'a method of 40 letters',
    row: 5,
    send: request('A'.repeat(40), '/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'a method of 20,000 letters',
    row: 5,
    send: request('A'.repeat(20_000), '/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: [400, 431, 501], code: ['MALFORMED_REQUEST', 'HEADERS_TOO_LARGE', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'CONNECT',
    row: 13,
    send: `CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n`,
    expect: { status: [405, 501], code: ['METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'CONNECT to a path',
    row: 13,
    send: `CONNECT /v1/things HTTP/1.1\r\n${host}\r\n`,
    expect: { status: [400, 405, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  }
]
