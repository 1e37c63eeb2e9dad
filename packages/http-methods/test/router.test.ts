import httpMethods from '@concordat/http-methods'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'

const methods = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT', 'QUERY'] as const
const segment = fc.constantFrom('a', 'b', 'A', ':id', ':id-:part', ':n(^\\d+$)', 'a:id')
const path = fc
  .tuple(fc.array(segment, { maxLength: 3 }), fc.constantFrom('', '', '', '/', '/*'))
  .map(([segments, end]) =>
    `/${segments.map((name, place) => name.replaceAll(/:(\w+)/g, `:$1${place}`)).join('/')}${end}`.replace('//', '/')
  )
const table = fc.array(fc.tuple(fc.subarray([...methods], { minLength: 1 }), path), { maxLength: 8 })
const url = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'b', 'A', 'c', '7', 'x-y', 'ab', '%61', '%2F', 'é', ''), { maxLength: 4 }),
    fc.constantFrom('', '?q=1', '/')
  )
  .map(([segments, end]) => encodeURI(`/${segments.join('/')}`).replaceAll('%25', '%') + end)

const routerOptions = fc.record({ ignoreTrailingSlash: fc.boolean(), ignoreDuplicateSlashes: fc.boolean(), caseSensitive: fc.boolean() })

t.test('for any table of routes, Allow equals the methods that the router accepts [X1] [M8]', async (t) => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.array(url, { minLength: 3, maxLength: 6 }),
      routerOptions,
      fc.boolean(),
      async (routes, urls, options, exposeHeadRoutes) => {
        const app = Fastify({ exposeHeadRoutes, routerOptions: options })
        await app.register(httpMethods)
        for (const [wanted, at] of routes) {
          for (const method of wanted) {
            if (!app.hasRoute({ method, url: at })) {
              try {
                app.route({ method, url: at, handler: async () => ({}) })
              } catch (error) {
                if ((error as { code?: string }).code !== 'FST_ERR_DUPLICATED_ROUTE') throw error
              }
            }
          }
        }
        for (const target of urls) {
          const responses = await Promise.all(
            methods.map((method) => app.inject({ method, url: target, headers: { 'content-type': 'application/json' }, payload: '{}' }))
          )
          const routed = methods.filter((_, place) => responses[place]?.statusCode === 200)
          const expected = routed.length === 0 ? undefined : [...routed, 'OPTIONS'].toSorted().join(', ')
          for (const response of responses) {
            if (response.statusCode === 200) continue
            compared++
            if (response.statusCode !== (expected === undefined ? 404 : 405))
              throw new Error(`${target}: ${response.statusCode}, router has ${expected}`)
            if (response.headers.allow !== expected)
              throw new Error(`${target}: Allow is ${response.headers.allow}, router has ${expected}`)
          }
          const plain = await app.inject({ method: 'OPTIONS', url: target })
          if (plain.headers.allow !== expected) throw new Error(`OPTIONS ${target}: ${plain.headers.allow}, router has ${expected}`)
        }
      }
    ),
    { numRuns: 60 }
  )
  t.ok(compared > 100, `${compared} responses compared`)
})
