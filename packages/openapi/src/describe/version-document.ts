import { methodsOf } from '../document/described-route.ts'
import { descriptionDigest } from '../document/description-digest.ts'
import {
  type Header,
  mapJson,
  mapOperations,
  mapValues,
  type OpenapiDocument,
  type Operation,
  type PathItem,
  pathItem,
  type RequestBody,
  type Response
} from '../document/document.ts'
import { requireReferences } from '../document/lost-references.ts'
import { propertiesOf } from '../document/schema-parts.ts'
import { exampleRoot, withExamples } from '../examples/operation-examples.ts'
import type { VersionToDescribe } from '../options.ts'
import { withBounds } from './bounds.ts'
import { nameSchemas } from './component-schemas.ts'
import { describeOperation, endingExtensions } from './described-operation.ts'
import { commonSchemas, errorFacts, errorResponseName, ownErrorsOf } from './error-responses.ts'
import { jobPaths } from './job-paths.ts'
import { draftOperation, type RegisteredRoute } from './operation-draft.ts'
import { type OperationIdClaim, uniqueOperationIds } from './operation-ids.ts'
import { pathOf } from './parameter-drafts.ts'
import { hasProblems, problemSchemas } from './problem-documents.ts'
import type { DocumentSettings } from './published-facts.ts'
import { type SchemaPublisher, schemaPublisher } from './published-schema.ts'
import { knownHeaders } from './response-headers.ts'
import { describedTags } from './tags.ts'

/** The limits that apply to every request. */
interface RequestLimits {
  /** The maximum length of a URI in characters, if error-catalogue, which also limits values, enforces one. */
  readonly maxUriLength: number | undefined
  /** The maximum length of a body in bytes. */
  readonly bodyLimit: number
  /** The maximum length of a path parameter in characters. */
  readonly maxParamLength: number
}

/**
 * Returns the document of a version: the operations as the schemas of its routes describe them, with details from the config of each route and
 * from the options. Shared parts are in the components, the schemas of resources have names, and bodies have examples. Throws a `TypeError` of one
 * line for a reference that leads to nothing.
 */
export function versionDocument(
  routes: readonly RegisteredRoute[],
  version: VersionToDescribe,
  settings: DocumentSettings,
  limits: RequestLimits
): OpenapiDocument {
  const { title, contact, license, publicUrl = '/', securitySchemes } = settings
  const publisher = schemaPublisher()
  const headers: Record<string, Header> = { ...knownHeaders }
  const responses: Record<string, Response> = {}
  const ids: OperationIdClaim[] = []
  const ownErrors = ownErrorsOf(routes.map(({ route }) => route))
  const groups = [...Map.groupBy(routes, ({ route }) => pathOf(route.url))].toSorted(byKey)
  const items = Object.fromEntries(
    groups.map(([path, group]): [string, PathItem] => [
      path,
      pathItem(group.flatMap((registered) => methodsOf(registered.route).map((method) => describe(path, method.toLowerCase(), registered))))
    ])
  )
  const operationIds = uniqueOperationIds(ids)
  const jobOf = jobPaths(routes, items)
  const paths = mapOperations(items, (path, method, operation) => ({
    ...operation,
    operationId: operationIds.get(`${method} ${path}`),
    ...jobOf(path, method)
  }))
  const webhooks = publishedWebhooks(settings, version.number, publisher)
  const common = commonSchemas(version.name, exampleRoot(settings, version))
  const schemas = { ...common, ...(routes.some(({ route }) => hasProblems(route, settings)) && problemSchemas(common)) }
  const description = `${settings.description}\n\n${limitsText(limits)}${additionalOperationsText(paths)}`
  const whole = nameSchemas(
    {
      openapi: '3.1.1',
      info: {
        title,
        version: `${version.number}.0.0`,
        description,
        ...(contact !== undefined && { contact }),
        ...(license !== undefined && { license })
      },
      servers: [{ url: publicUrl }],
      tags: [],
      paths,
      ...(webhooks !== undefined && { webhooks }),
      components: { schemas, securitySchemes, responses, headers },
      'x-errors': errorFacts(responses, settings.errors, ownErrors),
      ...endingExtensions(version),
      ...(Object.keys(settings.waived).length > 0 && { 'x-waivers': settings.waived })
    },
    publisher.referenced
  )
  const complete = { ...whole, tags: describedTags(whole), components: { ...whole.components, headers: usedHeaders(headers, whole) } }
  requireReferences(complete, version.name)
  const shown = withExamples(complete)
  const bounded = limits.maxUriLength === undefined ? shown : withBounds(shown)
  return { ...bounded, 'x-digest': descriptionDigest(bounded) }

  function describe(path: string, method: string, registered: RegisteredRoute): [method: string, operation: Operation] {
    const operation = draftOperation(registered, publisher, limits.maxParamLength)
    const described = describeOperation(
      { operation, route: registered.route, method, path },
      publisher.resolve,
      version,
      settings,
      ownErrors
    )
    Object.assign(headers, described.headers)
    const errors = mapValues(described.errors, (response, status) => {
      const name = errorResponseName(status, response)
      responses[name] = response
      return { $ref: `#/components/responses/${name}` }
    })
    const { operationId: wanted, responses: declared } = described.operation
    ids.push({ method, path, wanted, verb: described.verb, isGiven: operation.operationId !== undefined })
    return [method, { ...described.operation, responses: { ...declared, ...errors } }]
  }
}

function publishedWebhooks({ webhooks, shared }: DocumentSettings, version: number, { publish }: SchemaPublisher) {
  const events = webhooks(version)
  return (
    events &&
    mapOperations(events, (_type, _method, operation) => {
      const request = operation.requestBody as RequestBody | undefined
      if (request === undefined) return operation
      // The author of an event wrote the schema of its data, so the local references in it lead to its own definitions.
      const content = mapJson(request.content, (schema) => {
        const members = mapValues(propertiesOf(schema), (member) => publish(member, shared))
        return publish({ ...schema, properties: members }, shared)
      })
      return { ...operation, requestBody: { ...request, content } }
    })
  )
}

function usedHeaders(headers: Readonly<Record<string, Header>>, { paths, components }: OpenapiDocument) {
  const text = JSON.stringify([paths, components?.responses])
  const isUsed = ([name]: readonly [string, unknown]) => text.includes(`"#/components/headers/${name}"`)
  return Object.fromEntries(Object.entries(headers).filter(isUsed).toSorted(byKey))
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]) {
  return one < other ? -1 : 1
}

function limitsText({ maxUriLength, bodyLimit }: RequestLimits) {
  const uri = maxUriLength === undefined ? '' : `A request URI can have at most ${maxUriLength} characters. `
  return `${uri}A body can have at most ${bodyLimit} bytes, unless its operation states another limit.`
}

// Most tools do not read the extension, so people read which operations they do not see.
function additionalOperationsText(paths: Readonly<Record<string, PathItem>>) {
  const names = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item['x-oai-additionalOperations'] ?? {}).map((method) => `\`${method} ${path}\``)
  )
  return names.length === 0 ? '' : `\n\nOpenAPI 3.1 lists these operations in \`x-oai-additionalOperations\`: ${names.join(', ')}.`
}
