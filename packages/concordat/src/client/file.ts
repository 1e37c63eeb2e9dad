import type { Description, Message, Schema } from './description.ts'
import { descriptionOf } from './description.ts'
import { type Int64Form, int64PlacesOf } from './int64-places.ts'
import { operationText } from './operation-text.ts'
import { type DescribedOperation, methods, operationsOf } from './operations.ts'
import { SchemaTypes } from './schema-types.ts'
import { literal, member, quoted, union } from './words.ts'

/** The file of a client, and what of the description it cannot express, each with its place. */
export interface ClientFile {
  readonly text: string
  readonly warnings: readonly string[]
}

/** Writes the file for a description. The same description gives the same text. Throws a `Refusal` for an invalid document. */
export function clientFile(document: unknown, source: string, int64?: Int64Form): ClientFile {
  const description = descriptionOf(document, source)
  const operations = operationsOf(description)
  // The first pass finds the components that are received: those that are only sent need no second name.
  const { received } = passOf(description, operations, new SchemaTypes(description, int64))
  const { types, text } = passOf(description, operations, new SchemaTypes(description, int64, received))
  const places = int64 && int64PlacesOf(description, operations)
  const api = apiText(description, operations, places && `int64Json(${literal(int64)}, ${value(places)})`)
  const { title, version } = description.document.info
  const head = `// Written by npx concordat client from ${title.split('\n', 1)[0]} ${version.split('\n', 1)[0]}. Do not change it: write it again.\n`
  const runTime = places === undefined ? '' : "import { int64Json } from '@concordat/client/int64'\n"
  const imports = `import type { Api, CallOptions } from '@concordat/client'\n${runTime}`
  const whole = `${head}${imports}\n${types.declarations()}\n${text}\n${api}`.replaceAll(/ +$/gm, '')
  return { text: whole, warnings: [...description.warnings] }
}

function passOf(description: Description, operations: readonly DescribedOperation[], types: SchemaTypes) {
  const facts = (description.document as { 'x-errors'?: Readonly<Record<string, { readonly own?: boolean }>> })['x-errors']
  // Other services do not say which of their codes every operation can have.
  const isOwn = (code: string) => facts === undefined || facts[code]?.own === true
  const resultOf = (path: string) => operations.find((one) => one.method === 'get' && one.path === path)
  const sets = new Map<string, string>()
  const nameOfSet = (codes: readonly string[]) => {
    const key = codes.join()
    if (!sets.has(key)) sets.set(key, types.nameFor(`GeneralCodes${sets.size + 1}`))
    return sets.get(key) as string
  }
  const codesText = ({ codes }: DescribedOperation) => {
    if (codes.length === 0) return '      own: never\n      code: string\n'
    const own = union(codes.filter(isOwn).map(literal), '      ')
    const general = codes.filter((code) => !isOwn(code))
    const all = [...(general.length === 0 ? [] : [nameOfSet(general)]), ...codes.filter(isOwn).map(literal)]
    return `      own: ${own}\n      code: ${union(all, '      ')}\n`
  }
  const byMethod = methods.map((method) => {
    const texts = operations
      .filter((one) => one.method === method)
      .map((one) => operationText(description, types, one, codesText(one), resultOf))
    return `export interface ${titleOf(method)} {\n${texts.join('').replaceAll(/^ {4}/gm, '  ')}}\n`
  })
  const events = eventsText(description, types)
  const general = [...sets].map(([codes, name]) => `export type ${name} =${broken(codes.split(',').map(literal))}\n`)
  const text = [...general, ...byMethod, events, operationsTable(operations)].join('\n')
  return { types, text, received: types.received }
}

const titleOf = (method: string) => `${method[0]?.toUpperCase()}${method.slice(1)}Operations`
const broken = (parts: readonly string[]) => parts.map((part) => `\n  | ${part}`).join('')

function eventsText(description: Description, types: SchemaTypes) {
  const lines = Object.entries(description.document.webhooks ?? {}).flatMap(([name, item]) => {
    const place = `webhooks.${name}`
    const { post } = description.resolve(item, place) as { post?: { requestBody?: Message } }
    const body = description.resolve(post?.requestBody, place) as Message | undefined
    const schema = Object.values(body?.content ?? {})[0]?.schema
    return schema === undefined ? [] : [`  ${quoted(name)}: ${types.of(schema, 'out', place, '  ')}\n`]
  })
  return `/** Webhooks by their type. */\nexport interface Events {\n${lines.join('')}}\n`
}

function operationsTable(operations: readonly DescribedOperation[]) {
  const paths = (name: string, isIn: (one: DescribedOperation) => boolean) => {
    const found = operations.filter(isIn).map(({ path }) => quoted(path))
    return `    ${name}: ${union(found, '    ')}\n`
  }
  return [
    'export interface Operations {\n',
    ...methods.map((method) => `  ${method}: ${titleOf(method)}\n`),
    '  paths: {\n',
    ...methods.map((method) => paths(method, (one) => one.method === method)),
    paths('list', ({ isList }) => isList),
    paths('update', ({ isUpdate }) => isUpdate),
    paths('job', ({ isJob }) => isJob),
    paths('batch', ({ isBatch }) => isBatch),
    '  }\n  events: Events\n}\n'
  ].join('')
}

/** Returns a value of JSON as it is written in a program. */
function value(one: unknown): string {
  if (Array.isArray(one)) return `[${one.map(value).join(', ')}]`
  if (typeof one !== 'object' || one === null) return literal(one)
  const members = Object.entries(one).map(([name, inner]) => `${name === '__proto__' ? `['${name}']` : member(name)}: ${value(inner)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function apiText(description: Description, operations: readonly DescribedOperation[], json: string | undefined) {
  const { 'x-digest': digest } = description.document as { 'x-digest'?: unknown }
  const lines = operations
    .filter(({ facts }) => Object.keys(facts).length > 0)
    .map(({ method, path, facts }) => `    ${quoted(`${method.toUpperCase()} ${path}`)}: ${value(facts)}`)
  const session = sessionOf(description, operations)
  return [
    `export const api: Api<Operations> = {\n  version: ${literal(description.document.info.version)},\n`,
    ...(typeof digest === 'string' ? [`  digest: ${literal(digest)},\n`] : []),
    ...(json === undefined ? [] : [`  json: ${json},\n`]),
    ...(session === undefined ? [] : [`  session: ${value(session)},\n`]),
    `  operations: {\n${lines.join(',\n')}\n  }\n}\n`
  ].join('')
}

// Tokens come from the operation that takes a refresh token and returns the next one.
function sessionOf(description: Description, operations: readonly DescribedOperation[]) {
  const membersOf = (message: Message | undefined) => {
    const schema = description.resolve(message?.content?.['application/json']?.schema, 'session') as Schema | undefined
    const data = description.resolve(schema?.properties?.['data'] ?? schema, 'session') as Schema | undefined
    return Object.keys(data?.properties ?? {})
  }
  const posts = operations.filter(({ method }) => method === 'post')
  const signIn = posts.find(({ operation: { requestBody, responses = {} } }) => {
    const given = membersOf(responses['200'] ?? responses['201'])
    return membersOf(requestBody).includes('refreshToken') && given.includes('accessToken') && given.includes('refreshToken')
  })
  const signOut = posts.find(
    ({ path, operation }) => path.endsWith('token-revocations') && membersOf(operation.requestBody).includes('token')
  )
  return signIn === undefined ? undefined : { signIn: signIn.path, ...(signOut !== undefined && { signOut: signOut.path }) }
}
