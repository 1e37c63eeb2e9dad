// Words that are often nouns (order, export, refresh, search, …) are not listed: on their own they fail because they are not plural.

/** Words that must not start a path segment, because the method is the verb (rule P3). */
export const verbs: ReadonlySet<string> = new Set(
  (
    'accept activate add apply approve assign attach calculate cancel compute confirm convert create deactivate decline delete ' +
    'destroy detach disable do edit enable execute fetch find generate get insert invoke list make modify perform publish reject ' +
    'remove rename replace resend retrieve revoke save send set submit unassign unpublish update upsert validate verify'
  ).split(' ')
)

/** Words that describe the implementation and not the resource (rule P3). */
export const technologyWords: ReadonlySet<string> = new Set(
  (
    'ajax api apis asp aspx cgi crud csv dll endpoint endpoints fastify graphql grpc html http https java javascript json jsonrpc ' +
    'jsp kafka mongo mongodb mysql nodejs nosql odata oracle php postgres postgresql python redis rest restful rpc servlet soap sql ' +
    'sqlite typescript wsdl xhtml xml yaml'
  ).split(' ')
)

/** Segments that name a resource although they contain a technology word. */
export const domainSegments: ReadonlySet<string> = new Set(['api-keys'])

/** Well-known short words (rule P3: no cryptic abbreviations). */
export const knownShortWords: ReadonlySet<string> = new Set(
  'ai at by dns eu gps id in ip it of on or os pc pcs pdf pdfs qr sms ssl tls to tv tvs ui uk un up us vms vpn vpns'.split(' ')
)

/** Query parameters that choose an operation, which only the HTTP method may do (rule P3). */
export const operationParameters: ReadonlySet<string> = new Set(['action', 'cmd', 'command', 'do', 'method', 'op', 'operation'])

/** Nouns in a path that indicate that a POST request reads data (rule M10). */
export const searchWords: ReadonlySet<string> = new Set(['lookup', 'lookups', 'queries', 'query', 'search', 'searches'])

/** Names of headers and parameters that select a version, in lower case and without separators (rule V2). */
export const versionNames: ReadonlySet<string> = new Set(['acceptversion', 'apiversion', 'version', 'xapiversion', 'xversion'])
