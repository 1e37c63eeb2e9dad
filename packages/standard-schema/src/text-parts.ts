import { type JsonSchema, jsonSchemaOf, type StandardSchema } from '@concordat/plugin-kit/json-schema'

interface ZodSchema {
  readonly _zod: { readonly def: { readonly type: string; readonly in?: ZodSchema | undefined } }
}
interface ZodNode {
  readonly zodSchema: ZodSchema
  readonly path: readonly PropertyKey[]
}
interface ValibotNode {
  readonly valibotSchema: { readonly entries?: Readonly<Record<string, object>> | undefined }
}

/**
 * Returns the JSON Schema of the query, path or headers, which arrive as text. Throws a `TypeError` for what would not receive this text:
 * validation as JSON Schema comes first, converts it to the type that the JSON Schema has, and rejects other text.
 */
export function convertText(schema: StandardSchema, place: string): JsonSchema {
  const found: string[] = []
  const libraryOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    // Zod and Valibot call these functions for each schema that they convert, and use what the second returns.
    zod: {
      override({ zodSchema, path }: ZodNode) {
        const { type, in: first } = definitionOf(zodSchema)
        const at = path.filter((step) => step !== 'properties').join('.')
        if (type === 'catch') found.push(`.catch()${at && ` in "${at}"`}, which would not run for text of another type`)
        if (first && definitionOf(first).type === 'transform')
          found.push(`z.preprocess()${at && ` in "${at}"`}, which would not receive the text`)
      }
    },
    valibot: {
      overrideSchema({ valibotSchema }: ValibotNode) {
        // Valibot does not call this function for the pipe of a member.
        const names = Object.entries(valibotSchema.entries ?? {}).flatMap(([name, entry]) => ('fallback' in entry ? [` in "${name}"`] : []))
        const places = names.length === 0 && 'fallback' in valibotSchema ? [''] : names
        for (const at of places) found.push(`v.fallback()${at}, which would not run for text of another type`)
      }
    }
  }
  const { vendor } = schema['~standard']
  const converted = jsonSchemaOf(schema, 'input', place, libraryOptions[vendor])
  const first = found.at(-1)
  if (first === undefined) return converted
  throw new TypeError(`${place} has ${first}. ${remedies[vendor]}, or describe the member as text with withJsonSchema().`)
}

function definitionOf({ _zod: { def } }: ZodSchema) {
  return def
}

const remedies: Readonly<Record<string, string>> = {
  zod: 'Start with text, for example z.string().transform(Number).pipe(z.number().catch(1))',
  valibot: 'Use v.optional() with a default'
}
