// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.

import httpMethods, { type HttpMethodsOptions } from '@concordat/http-methods'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(httpMethods)
app.register(httpMethods, { constraints: (request) => ({ region: request.headers['region'] }) })
// @ts-expect-error – a name is not enough, it must be derived from a request
app.register(httpMethods, { constraints: ['region'] })
expectTypeOf<HttpMethodsOptions>().toExtend<{ constraints?: unknown }>()
