import type { FastifyInstance, RouteOptions } from 'fastify'

type Compiler = (route: object) => (value: unknown) => unknown

const sample = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
const verdicts = new WeakMap<object, boolean>()

/**
 * Returns the name of the function that set a compiler which does not accept JSON Schema, such as those of fastify-type-provider-zod, or undefined
 * if all compilers of the route do.
 */
export function foreignCompiler(app: FastifyInstance, route: RouteOptions): string | undefined {
  const { body, querystring, query, params, headers, response } = (route.schema ?? {}) as Readonly<Record<string, unknown>>
  const validates = [body, querystring, query, params, headers].some((part) => part !== undefined)
  if (validates && !accepts(route.validatorCompiler ?? app.validatorCompiler, isValidation)) return 'setValidatorCompiler()'
  if (response !== undefined && !accepts(route.serializerCompiler ?? app.serializerCompiler, isSerialization))
    return 'setSerializerCompiler()'
  return undefined
}

// Before the start, an instance has only the compilers that a service or a plugin set.
function accepts(compiler: unknown, isExpected: (compile: Compiler) => boolean): boolean {
  if (typeof compiler !== 'function') return true
  const known = verdicts.get(compiler)
  if (known !== undefined) return known
  let verdict = false
  try {
    verdict = isExpected(compiler as Compiler)
  } catch {
    // A compiler of another kind of schema throws for a JSON Schema.
  }
  verdicts.set(compiler, verdict)
  return verdict
}

function isValidation(compile: Compiler) {
  const result = compile({ schema: sample, method: 'POST', url: '/', httpPart: 'body' })({ a: 'text' })
  return result !== false && (result as { error?: unknown } | null)?.error === undefined
}

function isSerialization(compile: Compiler) {
  return compile({ schema: sample, method: 'GET', url: '/', httpStatus: '200' })({ a: 'text' }) === '{"a":"text"}'
}
