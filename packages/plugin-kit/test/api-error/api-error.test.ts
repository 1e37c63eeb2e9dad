import { ApiError, defineErrors, isApiError, withoutStack } from '@concordat/plugin-kit/api-error'
import Fastify from 'fastify'
import t from 'tap'

const stock = defineErrors(
  {
    INSUFFICIENT_STOCK: {
      statusCode: 409,
      message: { en: 'Only {available} are left. Order fewer.', es: 'Solo quedan {available}. Pida menos.' },
      remedy: 'Order at most what is in stock.'
    },
    ORDER_REFUSED: {
      statusCode: 422,
      message: { en: 'The order is invalid.', es: 'El pedido no es válido.' },
      remedy: 'Fix the fields that are listed.'
    }
  },
  {
    tooMany: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' }
  }
)

t.test('an error has its error code, status code, message with values, headers and cause', async (t) => {
  const cause = new Error('row lock')
  const error = stock.create('INSUFFICIENT_STOCK', { params: { available: 3 }, headers: { 'retry-after': '5' }, cause })
  t.match(error, { code: 'INSUFFICIENT_STOCK', statusCode: 409, message: 'Only 3 are left. Order fewer.', headers: { 'retry-after': '5' } })
  t.equal(error.cause, cause)
  t.ok(error instanceof Error)
  t.ok(error instanceof ApiError)
})

t.test('what a client causes has no stack trace, and what the service causes has one', async (t) => {
  const limit = Error.stackTraceLimit
  const refused = stock.create('INSUFFICIENT_STOCK', { params: { available: 3 } })
  t.match(refused.stack, /Only 3 are left\. Order fewer\.$/)
  const broken = defineErrors({ BROKEN: { statusCode: 500, message: { en: 'Broken.' }, remedy: 'Report it.', retry: 'never' } }).create(
    'BROKEN'
  )
  t.match(broken.stack, 'api-error.test')
  t.match(new Error('another').stack, 'api-error.test')
  t.throws(() =>
    withoutStack(() => {
      throw new TypeError('not created')
    })
  )
  t.equal(Error.stackTraceLimit, limit)
})

t.test('field errors have key, params and the default text', async (t) => {
  const error = stock.create('ORDER_REFUSED', { errors: [{ field: 'body.quantity', key: 'tooMany', params: { limit: 9 } }] })
  t.strictSame(error.errors, [{ field: 'body.quantity', key: 'tooMany', params: { limit: 9 }, message: 'must be at most 9' }])
})

t.test('recognizes errors of another installed copy, and no other values', async (t) => {
  const foreign = Object.create({ [Symbol.for('concordat.ApiError')]: true })
  t.equal(isApiError(foreign), true)
  for (const other of [new Error('x'), null, undefined, 'text', { statusCode: 404, code: 'X' }]) t.equal(isApiError(other), false)
})

t.test('an error created with the constructor has empty params, errors and headers, and no cause', async (t) => {
  const error = new ApiError(404, 'ORDER_MISSING', 'There is no such order.')
  t.equal(error.name, 'ApiError')
  t.strictSame([error.params, error.errors, error.headers, 'cause' in error], [{}, [], {}, false])
})

t.test('stock Fastify responds with the status code, error code, message and headers', async (t) => {
  const app = Fastify()
  app.get('/', async () => {
    throw stock.create('INSUFFICIENT_STOCK', { params: { available: 0 }, headers: { 'retry-after': '5' }, cause: new Error('row lock') })
  })
  const response = await app.inject('/')
  t.equal(response.headers['retry-after'], '5')
  t.strictSame(response.json(), {
    statusCode: 409,
    code: 'INSUFFICIENT_STOCK',
    error: 'Conflict',
    message: 'Only 0 are left. Order fewer.'
  })
})

t.test('the text of an unknown field key is the key', async (t) => {
  const loose: { create(code: string, options: object): ApiError } = stock
  const error = loose.create('ORDER_REFUSED', { errors: [{ field: 'body.note', key: 'tooRude' }] })
  t.strictSame(error.errors, [{ field: 'body.note', key: 'tooRude', params: {}, message: 'tooRude' }])
})
