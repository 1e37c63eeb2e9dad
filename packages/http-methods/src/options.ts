import { callback, describeOptions, type OptionsOf } from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'

type Constraints = (request: FastifyRequest) => Readonly<Record<string, unknown>>

/** The description of {@link HttpMethodsOptions}. @readme */
export const httpMethodsOptions = describeOptions('http-methods', {
  /** Returns the values of your own constraint strategies, by name. By default `version` and `host`. */
  constraints: callback<Constraints>('returns the constraint values of a request')
})

/** Options of `@concordat/http-methods`. */
export interface HttpMethodsOptions extends OptionsOf<typeof httpMethodsOptions> {}

/** Returns the values of constraints, and whether the value of a constraint can be derived from a request. */
export function resolveOptions(options: HttpMethodsOptions): {
  readonly constraints: Constraints
  readonly derives: (constraint: string) => boolean
} {
  const { constraints } = httpMethodsOptions.readPlugin(options)
  if (constraints !== undefined) return { constraints, derives: () => true }
  return { constraints: routerConstraints, derives: (constraint) => constraint === 'version' || constraint === 'host' }
}

function routerConstraints({ raw: { headers } }: FastifyRequest) {
  return { version: headers['accept-version'], host: headers.host || headers[':authority'] }
}
