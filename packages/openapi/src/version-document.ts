import { nameSchemas } from './component-schemas.ts'
import { describeOperation, endingExtensions } from './described-operation.ts'
import type { DescribedRoute } from './described-route.ts'
import {
  type Header,
  isJson,
  type MediaType,
  methods,
  type OpenapiDocument,
  type Operation,
  type PathItem,
  type Reference,
  type RequestBody,
  type Response
} from './document.ts'
import { commonSchemas, errorResponseName } from './error-responses.ts'
import { exampleOf } from './examples.ts'
import type { Settings, VersionToDescribe } from './options.ts'
import { knownHeaders } from './response-headers.ts'
import { routeMark } from './route-schema.ts'
import { tagDescription } from './words.ts'

/** The limits that apply to every request. */
interface RequestLimits {
  /** The maximum length of a URI in characters, if the service has a limit of its own. */
  readonly maxUriLength: number | undefined
  /** The maximum length of a body in bytes. */
  readonly bodyLimit: number
}

function limitsText({ maxUriLength, bodyLimit }: RequestLimits) {
  const uri = maxUriLength === undefined ? '' : `A request URI can have at most ${maxUriLength} characters. `
  return `${uri}A body can have at most ${bodyLimit} bytes, unless its operation states another limit.`
}

/** Returns the document of a version with empty `paths`. */
export function documentHead(version: VersionToDescribe, settings: Settings, limits: RequestLimits): OpenapiDocument {
  const { title, description, contact, license, publicUrl, securitySchemes } = settings
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: `${version.number}.0.0`,
      description: `${description}\n\n${limitsText(limits)}`,
      ...(contact !== undefined && { contact }),
      ...(license !== undefined && { license })
    },
    servers: [{ url: publicUrl ?? '/' }],
    components: { schemas: commonSchemas(version.name), securitySchemes },
    paths: {}
  }
}

/**
 * Completes the document that `@fastify/swagger` generated from the routes of a version: adds details from the config of each route and from the
 * options, moves shared parts to the components, names the schemas of resources, and adds examples.
 */
export function completeDocument(
  draft: OpenapiDocument,
  routes: readonly DescribedRoute[],
  version: VersionToDescribe,
  settings: Settings
): OpenapiDocument {
  const responses = new Map<string, Response>()
  const headers = new Map<string, Header>(Object.entries(knownHeaders))
  const operationIds = new Set<string>()
  const tagged = new Map<string, { path: string; verb: string }[]>()
  const paths: Record<string, PathItem> = {}
  for (const [path, item] of Object.entries(draft.paths ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    paths[path] = Object.fromEntries(
      methods.flatMap((method) => (item[method] === undefined ? [] : [[method, describe(path, method, item[method])]]))
    )
  }
  const webhooks = settings.webhooks(version.number)
  const tags = [
    ...new Set(Object.values({ ...paths, ...webhooks }).flatMap((item) => methods.flatMap((method) => item[method]?.tags ?? [])))
  ]
  const { components, openapi, info, servers } = draft
  const whole = nameSchemas({
    openapi,
    info,
    ...(servers !== undefined && { servers }),
    tags: tags.map((name) => ({ name, description: tagDescription(name, tagged.get(name) ?? []) })),
    paths,
    ...(webhooks !== undefined && { webhooks }),
    components: { ...components, responses: Object.fromEntries(responses), headers: Object.fromEntries(headers) },
    ...(version.ending !== undefined && endingExtensions(version.ending))
  })
  return withExamples({ ...whole, components: { ...whole.components, headers: usedHeaders(whole, headers) } })

  function describe(path: string, method: string, operation: Operation): Operation {
    const route = routes[operation[routeMark] as number] as DescribedRoute
    const described = describeOperation({ operation, route, method, path }, version, settings)
    for (const [name, header] of Object.entries(described.headers)) headers.set(name, header)
    for (const tag of described.operation.tags ?? []) tagged.set(tag, [...(tagged.get(tag) ?? []), { path, verb: described.verb }])
    const errors = [...described.errors].map(([status, errorResponse]): [string, Reference] => [status, shared(status, errorResponse)])
    return {
      ...described.operation,
      operationId: unique(described.operation.operationId as string),
      responses: { ...described.operation.responses, ...Object.fromEntries(errors) }
    }
  }

  function unique(wanted: string): string {
    let name = wanted
    for (let number = 2; operationIds.has(name); number += 1) name = `${wanted}${number}`
    operationIds.add(name)
    return name
  }

  function shared(status: string, errorResponse: Response): Reference {
    const base = errorResponseName(status, errorResponse)
    const text = JSON.stringify(errorResponse)
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}${number}`
      const known = responses.get(name)
      if (known !== undefined && JSON.stringify(known) !== text) continue
      responses.set(name, errorResponse)
      return { $ref: `#/components/responses/${name}` }
    }
  }
}

function usedHeaders({ paths, components }: OpenapiDocument, headers: ReadonlyMap<string, Header>) {
  const text = JSON.stringify({ paths, responses: components?.responses })
  return Object.fromEntries(
    [...headers].filter(([name]) => text.includes(`"#/components/headers/${name}"`)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

function withExamples(document: OpenapiDocument): OpenapiDocument {
  const { paths = {}, webhooks } = document
  const illustrate = (items: Readonly<Record<string, PathItem>>) =>
    Object.fromEntries(
      Object.entries(items).map(([path, item]) => [
        path,
        Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, withBodyExamples(operation as Operation, document)]))
      ])
    )
  return { ...document, paths: illustrate(paths), ...(webhooks && { webhooks: illustrate(webhooks) }) }
}

function withBodyExamples(operation: Operation, document: OpenapiDocument): Operation {
  const request = operation.requestBody as RequestBody | undefined
  const responses = Object.entries(operation.responses ?? {}).map(([status, response]) => [
    status,
    'content' in response && response.content !== undefined ? { ...response, content: illustrated(response.content, document) } : response
  ])
  return {
    ...operation,
    ...(request !== undefined && { requestBody: { ...request, content: illustrated(request.content, document) } }),
    responses: Object.fromEntries(responses)
  }
}

function illustrated(content: Readonly<Record<string, MediaType>>, document: OpenapiDocument) {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      if (!isJson(type) || media.schema === undefined || media.examples !== undefined || media.example !== undefined) return [type, media]
      const example = exampleOf(media.schema, document)
      return [type, example === undefined ? media : { ...media, example }]
    })
  )
}
