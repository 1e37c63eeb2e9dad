import paginationQuery, { type PaginationQueryOptions, paginationQueryErrors } from '@concordat/pagination-query'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(paginationQuery, { maxPathLength: 512 })
// @ts-expect-error a length is a number
app.register(paginationQuery, { maxPathLength: '512' })
app.get('/', { config: { paginationQuery: false } }, () => 'here')

expectTypeOf<PaginationQueryOptions['maxPathLength']>().toEqualTypeOf<number | undefined>()
expectTypeOf(paginationQueryErrors.definitions).toBeObject()
