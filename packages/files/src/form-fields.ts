import { isApiError } from '@concordat/plugin-kit/api-error'
import { isObject, type JsonSchema, losesDigits, SchemaGraph, type SchemaPlace, typeOfJson } from '@concordat/plugin-kit/json-schema'

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** Converts the texts of fields to what the schema of the body expects. A text that cannot be converted stays, so that the validation names its field. */
export interface FormReader {
  /** Whether the schema has a member of this name. */
  declares(name: string): boolean
  valueOf(name: string, texts: readonly string[]): Promise<unknown>
}

/** Creates the reader of forms of a schema. `readJson` parses the text of an object or a list. */
export function formReader(schema: JsonSchema, lookUp: (id: string) => unknown, readJson: (text: string) => Promise<unknown>): FormReader {
  const graph = new SchemaGraph(lookUp)
  const body = graph.placesOf([schema])
  return {
    declares: (name) => graph.members(body, name).length > 0,
    async valueOf(name, texts) {
      const places = graph.members(body, name)
      const [first = ''] = texts
      if (!typesOf(places).has('array')) return texts.length === 1 ? convert(first, typesOf(places)) : texts
      const items = typesOf(graph.items(places))
      // A list of objects can be one text of JSON.
      if (texts.length === 1 && !items.has('string') && first.trimStart().startsWith('[')) return convert(first, new Set(['array']))
      return Promise.all(texts.map((text) => convert(text, items)))
    }
  }

  async function convert(given: string, types: ReadonlySet<unknown>): Promise<unknown> {
    if (types.size === 0 || types.has('string')) return given
    if (types.has('boolean') && (given === 'true' || given === 'false')) return given === 'true'
    if ((types.has('number') || types.has('integer')) && number.test(given))
      return losesDigits(given) ? Number.POSITIVE_INFINITY : Number(given)
    if (types.has('null') && given === '') return null
    if (!types.has('object') && !types.has('array')) return given
    try {
      return await readJson(given)
    } catch (error) {
      if (isApiError(error) && error.code !== 'MALFORMED_JSON') throw error
      return given
    }
  }
}

function typesOf(places: readonly SchemaPlace[]): ReadonlySet<unknown> {
  return new Set(
    places.flatMap(({ schema }) => [...[schema['type'] ?? []].flat(), ...constantsOf(schema).map(typeOfJson), ...shapeOf(schema)])
  )
}

function constantsOf(schema: JsonSchema): readonly unknown[] {
  return [...(Array.isArray(schema['enum']) ? schema['enum'] : []), ...('const' in schema ? [schema['const']] : [])]
}

function shapeOf({ properties, items }: JsonSchema) {
  return [...(isObject(properties) ? ['object'] : []), ...(items === undefined ? [] : ['array'])]
}
