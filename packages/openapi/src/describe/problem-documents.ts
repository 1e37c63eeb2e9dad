import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { DescribedRoute } from '../document/described-route.ts'
import type { Content } from '../document/document.ts'
import { propertiesOf } from '../document/schema-parts.ts'
import type { DocumentSettings } from './published-facts.ts'

/** Returns whether the errors of a route can be problem documents (RFC 9457), for clients that prefer this media type. */
export function hasProblems(route: DescribedRoute, { operations }: DocumentSettings): boolean {
  return operations.some((partsOf) => partsOf(route).problemDetails === true)
}

/** Returns the content of an error response with these codes as a problem document. */
export function problemContent(codes: JsonSchema): Content {
  return { 'application/problem+json': { schema: { allOf: [{ $ref: '#/components/schemas/ProblemDocument' }, codes] } } }
}

/** Returns the component schemas of problem documents: the members of the error envelope, under the names of RFC 9457. */
export function problemSchemas(
  common: Readonly<Record<'Meta' | 'FieldError' | 'ErrorDetail', JsonSchema>>
): Readonly<Record<string, JsonSchema>> {
  const { error: title, message: detail, errors, status, ...others } = propertiesOf(common.ErrorDetail) as Record<string, JsonSchema>
  const { version, timestamp } = propertiesOf(common.Meta)
  const { field, message } = propertiesOf(common.FieldError)
  const properties = {
    type: { type: 'string', format: 'uri-reference', maxLength: 4096, description: 'The address of the description of the error code.' },
    title,
    status,
    detail,
    instance: { type: 'string', pattern: '^urn:uuid:[0-9a-f-]{36}$', maxLength: 45, description: 'Identifies this response.' },
    ...others,
    errors: { ...errors, items: { $ref: '#/components/schemas/ProblemError' } },
    version,
    timestamp
  }
  return {
    ProblemDocument: {
      type: 'object',
      description: 'What went wrong, as a problem document (RFC 9457). Programs compare `code`; people read `detail`.',
      required: Object.keys(properties).filter((name) => name !== 'errors'),
      properties
    },
    ProblemError: {
      type: 'object',
      description: 'An invalid part of the request.',
      required: ['detail'],
      properties: {
        detail: message,
        pointer: {
          type: 'string',
          pattern: '^#(/.*)?$',
          maxLength: 8192,
          description: 'The JSON pointer of the value in the body (RFC 6901 §6).',
          examples: ['#/items/0/quantity']
        },
        parameter: { type: 'string', maxLength: 1024, description: 'The name of the parameter.', examples: ['sort'] },
        in: { type: 'string', enum: ['query', 'header', 'path'], description: 'The part of the request that has the parameter.' },
        field
      }
    }
  }
}
