import type { DescribedRoute, OperationParts } from '@concordat/plugin-kit/wiring'
import type { FileRules } from './options.ts'

/** Returns the description of the files that a route accepts. */
export function operationParts({ config }: DescribedRoute): OperationParts {
  const rules = config?.upload
  if (rules === undefined) return {}
  const files = Object.entries(rules).map(([name, rule]) => {
    const { types, isOptional, maxFiles } = rule
    const schema =
      maxFiles === undefined
        ? fileSchema(rule)
        : { type: 'array', items: fileSchema(rule), maxItems: maxFiles, minItems: isOptional ? 0 : 1 }
    return [name, { schema, isRequired: isOptional !== true, contentType: types?.join(', ') }]
  })
  return { errors: ['MALFORMED_MULTIPART', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'], files: Object.fromEntries(files) }
}

// The form from which generators of clients make a type that accepts files, and pages a file picker.
function fileSchema({ maxBytes, types }: FileRules) {
  const allowed = types === undefined ? '' : ` of the type ${types.join(' or ')}`
  return {
    type: 'string',
    format: 'binary',
    description: `A file${allowed}, of at most ${maxBytes} bytes.`,
    'x-max-bytes': maxBytes
  }
}
