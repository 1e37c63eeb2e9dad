import type { Description, Message, OperationObject, Parameter, Schema } from './description.ts'

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof methods)[number]

/** What of an operation is in the file. */
export interface DescribedOperation {
  readonly method: Method
  readonly path: string
  readonly operation: OperationObject
  readonly codes: readonly string[]
  readonly isList: boolean
  readonly isUpdate: boolean
  readonly isJob: boolean
  readonly isBatch: boolean
  /** The entry in the table of the run time. */
  readonly facts: Readonly<Record<string, unknown>>
}

export const isJson = (type: string) => /[/+]json$/.test(type.split(';', 1)[0] as string)
/** Reads all operations, sorted as the document has them. */
export function operationsOf(description: Description): DescribedOperation[] {
  const { document } = description
  return Object.entries(document.paths ?? {}).flatMap(([path, given]) => {
    const item = description.resolve(given, `paths.${path}`) as Record<string, unknown>
    return methods.flatMap((method) => {
      const operation = item[method] as OperationObject | undefined
      return operation === undefined ? [] : [described(description, path, method, item, operation)]
    })
  })
}

function described(
  description: Description,
  path: string,
  method: Method,
  item: Record<string, unknown>,
  operation: OperationObject
): DescribedOperation {
  const place = `${method.toUpperCase()} ${path}`
  const responses = Object.entries(operation.responses ?? {}).map(
    ([status, response]) => [status, description.resolve(response, place) as Message] as const
  )
  const parameters = parametersOf(description, item, operation, place)
  const body = description.resolve(operation.requestBody, place) as Message | undefined
  const accepted = responses.find(([status]) => status === '202')?.[1]
  const get = item['get'] as OperationObject | undefined
  const types = Object.keys(body?.content ?? {})
  const type = types.find(isJson) ?? types[0]
  const lists = parameters.filter(
    ({ in: where, explode, schema }) => where === 'query' && explode === false && typeOf(description, schema, place) === 'array'
  )
  const isOpen = (operation.security ?? (document(description)['security'] as object[] | undefined))?.length === 0
  const facts = {
    ...(operation['x-idempotency'] !== undefined && { key: 1 }),
    ...(type !== undefined && type !== 'application/json' && { type }),
    ...(lists.length > 0 && { lists: lists.map(({ name }) => name) }),
    ...(isOpen && { open: 1 })
  }
  return {
    method,
    path,
    operation: { ...operation, parameters, ...(body !== undefined && { requestBody: body }), responses: Object.fromEntries(responses) },
    codes: codesOf(description, responses, place),
    isList: method === 'get' && operation['x-pagination'] !== undefined,
    isUpdate: method === 'patch' && operation['x-if-match'] !== undefined && get !== undefined,
    isJob:
      method === 'post' &&
      (operation['x-job'] !== undefined || (accepted?.headers?.['Location'] !== undefined && accepted.content !== undefined)),
    isBatch: method === 'post' && (operation['x-batch'] !== undefined || path.endsWith('-batches')),
    facts
  }
}

const document = ({ document: whole }: Description) => whole as unknown as Record<string, unknown>

function typeOf(description: Description, schema: Parameter['schema'], place: string) {
  return (description.resolve(schema, place) as Schema | undefined)?.type
}

function parametersOf(description: Description, item: Record<string, unknown>, operation: OperationObject, place: string): Parameter[] {
  const given = [...((item['parameters'] ?? []) as Parameter[]), ...(operation.parameters ?? [])].map(
    (one) => description.resolve(one, place) as Parameter
  )
  // A parameter of the operation replaces that of the path.
  const single = [...new Map(given.map((one) => [`${one.in} ${one.name}`, one])).values()]
  for (const { name, in: where } of single)
    if (where === 'cookie') description.warnings.add(`${place}: the cookie ${name} cannot be sent by fetch.`)
  return single
}

function codesOf(description: Description, responses: readonly (readonly [string, Message])[], place: string): string[] {
  const found = new Set<string>()
  const seen = new Set<unknown>()
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return
    seen.add(part)
    const schema = description.resolve(part, place) as Schema
    const code = description.resolve(schema.properties?.['code'], place) as Schema | undefined
    for (const value of code?.enum ?? (code !== undefined && 'const' in code ? [code['const']] : []))
      if (typeof value === 'string') found.add(value)
    for (const list of [schema.allOf, schema.oneOf, schema.anyOf, Object.values(schema.properties ?? {})])
      for (const one of list ?? []) walk(one)
  }
  for (const [status, { content = {} }] of responses)
    if (!/^[123]/.test(status)) for (const { schema } of Object.values(content)) walk(schema)
  return [...found].toSorted()
}
