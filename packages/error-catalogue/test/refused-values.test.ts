import errorCatalogue from '@concordat/error-catalogue'
import { refusedParameter } from '@concordat/plugin-kit/api-error'
import Fastify from 'fastify'
import t from 'tap'

interface Refusal {
  readonly code: string
  readonly message: string
  readonly detail?: string
  readonly parameter?: unknown
}

function databaseError({ parameter, ...members }: Refusal) {
  const error = Object.assign(new Error(members.message), { severity: 'ERROR', ...members })
  return parameter === undefined ? error : Object.defineProperty(error, refusedParameter, { value: parameter })
}

const body = {
  place: '👩‍🚀'.repeat(4),
  born: '0000-1-1',
  days: ['2024-1-1', '2024-2-30'],
  price: 123456,
  deep: { a: [{ 'b/c': '25:00' }] },
  on: false,
  twice: ['same', 'same']
}
const tooLong = (limit: number) => ({ code: '22001', message: `value too long for type character varying(${limit})` })

/** What PostgreSQL reports, and the fields of the response. Without fields, the value is not in the request. */
const refusals: readonly (readonly [refusal: Refusal, fields: Readonly<Record<string, string>>])[] = [
  [{ code: '22008', message: 'date/time field value out of range: "0000-1-1"' }, { 'body.born': 'is invalid' }],
  [{ code: '22008', message: 'valor de hora/fecha fuera de rango: «0000-1-1»' }, { 'body.born': 'is invalid' }],
  [{ code: '22008', message: 'Datum/Zeit-Feldwert ist außerhalb des gültigen Bereichs: »0000-1-1«' }, { 'body.born': 'is invalid' }],
  [{ code: '22008', message: 'date/time field value out of range: "2024-2-30"' }, { 'body.days.1': 'is invalid' }],
  [{ code: '22008', message: 'date/time field value out of range: "25:00"' }, { 'body.deep.a.0.b/c': 'is invalid' }],
  [{ code: '22003', message: 'value "123456" is out of range for type smallint' }, { 'body.price': 'is invalid' }],
  [{ code: '22P02', message: 'invalid input syntax for type uuid: "x"' }, { 'query.filter': 'is invalid' }],
  [{ code: '22023', message: 'invalid hexadecimal digit: "z"', parameter: '0000-1-1' }, { 'body.born': 'is invalid' }],
  [
    { code: '22000', message: 'range lower bound must be less than or equal to range upper bound', parameter: '25:00' },
    { 'body.deep.a.0.b/c': 'is invalid' }
  ],
  [{ code: '23514', message: 'value for domain percent violates check constraint', parameter: 123456 }, { 'body.price': 'is invalid' }],
  [{ code: '22007', message: 'invalid input syntax', parameter: new Date('2024-01-01T00:00:00Z') }, {}],
  [tooLong(9), { 'body.place': 'must have at most 9 characters' }],
  [tooLong(4), { body: 'is invalid' }],
  [{ code: '22P02', message: 'invalid input syntax for type uuid: "same"' }, { body: 'is invalid' }],
  [
    {
      code: '22003',
      message: 'numeric field overflow',
      detail: 'A field with precision 8, scale 3 must round to an absolute value less than 10^5.'
    },
    { 'body.price': 'is invalid' }
  ],
  // Mistakes of the service, and constraints of a table, which it can name.
  [{ code: '22P02', message: 'invalid input syntax for type integer: "undefined"' }, {}],
  [{ code: '22P02', message: 'invalid input syntax for type integer: "0000-1-1"', parameter: 'undefined' }, {}],
  [{ code: '22012', message: 'division by zero' }, {}],
  [{ code: '22003', message: 'integer out of range' }, {}],
  [{ code: '23514', message: 'new row violates check constraint "0000-1-1"' }, {}],
  [{ code: '42601', message: 'syntax error at or near "0000-1-1"' }, {}]
]

for (const isWrapped of [false, true])
  t.test(
    `returns 422 with the field for a value that the database refuses${isWrapped ? ', in the error of a query builder' : ''}`,
    async (t) => {
      const app = Fastify()
      await app.register(errorCatalogue)
      let thrown: unknown
      app.post('/things', async () => {
        throw isWrapped ? new Error('Failed query', { cause: thrown }) : thrown
      })
      for (const [refusal, fields] of refusals) {
        thrown = databaseError(refusal)
        const response = await app.inject({ method: 'POST', url: '/things?filter=x', payload: body })
        const { code, errors = [] } = response.json().error
        const found = Object.fromEntries(errors.map(({ field, message }: { field: string; message: string }) => [field, message]))
        const expected = Object.keys(fields).length === 0 ? [500, 'INTERNAL_ERROR', {}] : [422, 'VALIDATION_FAILED', fields]
        t.strictSame([response.statusCode, code, found], expected, `${refusal.code} ${refusal.message}`)
      }
    }
  )

t.test('returns 404 for a value of the path that the database refuses, in an error of any form', async (t) => {
  const app = Fastify()
  await app.register(errorCatalogue)
  let thrown: unknown
  app.get('/things/:id', async () => {
    throw thrown
  })
  thrown = databaseError({ code: '22P02', message: 'invalid input syntax for type uuid: "x"' })
  t.match((await app.inject('/things/x')).json().error, { code: 'RESOURCE_NOT_FOUND' })
  t.match((await app.inject('/things/y')).json().error, { code: 'INTERNAL_ERROR' })
  const circular = new Error('circular')
  circular.cause = circular
  const hostile = Object.defineProperty(new Error('hostile'), 'severity', {
    get() {
      throw new Error('no')
    }
  })
  for (thrown of [circular, hostile, null, 'text']) t.equal((await app.inject('/things/x')).statusCode, 500)
})
