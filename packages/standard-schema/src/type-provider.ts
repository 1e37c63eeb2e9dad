import type { InputOf, OutputOf, StandardSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyTypeProvider } from 'fastify'

/**
 * The type provider for schemas that implement Standard Schema: a handler receives the output of the schemas of its request, and returns the input
 * of the schema of its response.
 *
 * @example const app = Fastify().withTypeProvider<StandardSchemaTypeProvider>()
 */
export interface StandardSchemaTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends StandardSchema ? OutputOf<this['schema']> : unknown
  readonly serializer: this['schema'] extends StandardSchema ? InputOf<this['schema']> : unknown
}
