import { nameSchemas } from './component-schemas.ts'
import { describeOperation, endingExtensions } from './described-operation.ts'
import { methodsOf } from './described-route.ts'
import {
  type Header,
  mapOperations,
  type OpenapiDocument,
  type Operation,
  type PathItem,
  pathItem,
  type Reference,
  type RequestBody,
  type Response
} from './document.ts'
import { commonSchemas, errorResponseName } from './error-responses.ts'
import { exampleRoot } from './example-urls.ts'
import { draftOperation, pathOf, type RegisteredRoute } from './operation-draft.ts'
import { withExamples } from './operation-examples.ts'
import { type OperationIdClaim, uniqueOperationIds } from './operation-ids.ts'
import type { VersionToDescribe } from './options.ts'
import type { DocumentSettings } from './published-facts.ts'
import { schemaPublisher } from './published-schema.ts'
import { knownHeaders } from './response-headers.ts'
import { describedTags } from './tags.ts'

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
function documentHead(version: VersionToDescribe, settings: DocumentSettings, limits: RequestLimits): OpenapiDocument {
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
    components: { schemas: commonSchemas(version.name, exampleRoot(settings, version)), securitySchemes }
  }
}

/**
 * Returns the document of a version: the operations as the schemas of its routes describe them, with details from the config of each route and
 * from the options. Shared parts are in the components, the schemas of resources have names, and bodies have examples.
 */
export function versionDocument(
  routes: readonly RegisteredRoute[],
  version: VersionToDescribe,
  settings: DocumentSettings,
  limits: RequestLimits
): OpenapiDocument {
  const publisher = schemaPublisher()
  const responses = new Map<string, Response>()
  const headers = new Map<string, Header>(Object.entries(knownHeaders))
  const ids: OperationIdClaim[] = []
  const items: Record<string, PathItem> = {}
  for (const [path, group] of [...Map.groupBy(routes, ({ route }) => pathOf(route.url))].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const described = group.flatMap((registered) =>
      methodsOf(registered.route).map((method) => describe(path, method.toLowerCase(), registered))
    )
    items[path] = pathItem(described)
  }
  const operationIds = uniqueOperationIds(ids)
  const paths = mapOperations(items, (path, method, operation) => ({
    ...operation,
    operationId: operationIds.get(`${method} ${path}`)
  }))
  const webhooks = publishedWebhooks(settings.webhooks(version.number))
  const { components, ...head } = documentHead(version, settings, limits)
  const whole = nameSchemas(
    {
      ...head,
      info: { ...head.info, description: head.info.description + additionalOperationsText(paths) },
      tags: [],
      paths,
      ...(webhooks !== undefined && { webhooks }),
      components: { ...components, responses: Object.fromEntries(responses), headers: Object.fromEntries(headers) },
      ...(version.ending !== undefined && endingExtensions(version.ending))
    },
    publisher.referenced
  )
  return withExamples({ ...whole, tags: describedTags(whole), components: { ...whole.components, headers: usedHeaders(whole, headers) } })

  function describe(path: string, method: string, registered: RegisteredRoute): [method: string, operation: Operation] {
    const operation = draftOperation(registered, publisher)
    const described = describeOperation({ operation, route: registered.route, method, path }, publisher.resolve, version, settings)
    for (const [name, header] of Object.entries(described.headers)) headers.set(name, header)
    const errors = [...described.errors].map(([status, errorResponse]): [string, Reference] => [status, shared(status, errorResponse)])
    const operationId = described.operation.operationId as string
    ids.push({ method, path, wanted: operationId, verb: described.verb, isGiven: operation.operationId !== undefined })
    return [method, { ...described.operation, responses: { ...described.operation.responses, ...Object.fromEntries(errors) } }]
  }

  function publishedWebhooks(events: ReturnType<DocumentSettings['webhooks']>) {
    return (
      events &&
      mapOperations(events, (_type, _method, operation) => {
        const request = operation.requestBody as RequestBody | undefined
        if (request === undefined) return operation
        const content = Object.entries(request.content).map(([type, media]) => [
          type,
          media.schema === undefined ? media : { ...media, schema: publisher.publish(media.schema) }
        ])
        return { ...operation, requestBody: { ...request, content: Object.fromEntries(content) } }
      })
    )
  }

  function shared(status: string, errorResponse: Response): Reference {
    const name = errorResponseName(status, errorResponse)
    responses.set(name, errorResponse)
    return { $ref: `#/components/responses/${name}` }
  }
}

// Most tools do not read the extension, so people read which operations they do not see.
function additionalOperationsText(paths: Readonly<Record<string, PathItem>>) {
  const names = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item['x-oai-additionalOperations'] ?? {}).map((method) => `\`${method} ${path}\``)
  )
  return names.length === 0 ? '' : `\n\nOpenAPI 3.1 lists these operations in \`x-oai-additionalOperations\`: ${names.join(', ')}.`
}

function usedHeaders({ paths, components }: OpenapiDocument, headers: ReadonlyMap<string, Header>) {
  const text = JSON.stringify({ paths, responses: components?.responses })
  return Object.fromEntries(
    [...headers].filter(([name]) => text.includes(`"#/components/headers/${name}"`)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}
