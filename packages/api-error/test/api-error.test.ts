import { ApiError, defineErrors, isApiError } from '@concordat/api-error'
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
      message: { en: 'The order is not valid.', es: 'El pedido no es válido.' },
      remedy: 'Mend the fields that are listed.'
    }
  },
  {
    tooMany: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' }
  }
)

t.test('an error has its code, status, filled message, headers and cause', async (t) => {
  const cause = new Error('row lock')
  const error = stock.create('INSUFFICIENT_STOCK', { params: { available: 3 }, headers: { 'retry-after': '5' }, cause })
  t.match(error, { code: 'INSUFFICIENT_STOCK', statusCode: 409, message: 'Only 3 are left. Order fewer.', headers: { 'retry-after': '5' } })
  t.equal(error.cause, cause)
  t.ok(error instanceof Error)
  t.ok(error instanceof ApiError)
})

t.test('field errors carry key, params and the default text', async (t) => {
  const error = stock.create('ORDER_REFUSED', { errors: [{ field: 'body.quantity', key: 'tooMany', params: { limit: 9 } }] })
  t.strictSame(error.errors, [{ field: 'body.quantity', key: 'tooMany', params: { limit: 9 }, message: 'must be at most 9' }])
})

t.test('an error of another installed copy is recognised, and nothing else is', async (t) => {
  const foreign = Object.create({ [Symbol.for('concordat.ApiError')]: true })
  t.equal(isApiError(foreign), true)
  for (const other of [new Error('x'), null, undefined, 'text', { statusCode: 404, code: 'X' }]) t.equal(isApiError(other), false)
})
