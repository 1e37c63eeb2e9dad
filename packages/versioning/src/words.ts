// Words that are nouns as often as verbs (order, export, refresh, search, …) are not listed: alone they fail as no plural.

/** What a path segment may not begin with: the method is the verb (rule P3). */
export const verbs: ReadonlySet<string> = new Set(
  (
    'accept activate add apply approve assign attach calculate cancel compute confirm convert create deactivate decline delete ' +
    'destroy detach disable do edit enable execute fetch find generate get insert invoke list make modify perform publish reject ' +
    'remove rename replace resend retrieve revoke save send set submit unassign unpublish update upsert validate verify'
  ).split(' ')
)

/** What tells how the service is made instead of what it is about (rule P3). */
export const technologyWords: ReadonlySet<string> = new Set(
  (
    'ajax api apis asp aspx cgi crud csv dll endpoint endpoints fastify graphql grpc html http https java javascript json jsonrpc ' +
    'jsp kafka mongo mongodb mysql nodejs nosql odata oracle php postgres postgresql python redis rest restful rpc servlet soap sql ' +
    'sqlite typescript wsdl xhtml xml yaml'
  ).split(' ')
)

/** Segments that name a thing of the domain although a word of theirs is technology. */
export const domainSegments: ReadonlySet<string> = new Set(['api-keys'])

/** Short words that everybody reads (rule P3: no cryptic abbreviations). */
export const knownShortWords: ReadonlySet<string> = new Set(
  'ai at by dns eu gps id in ip it of on or os pc pcs pdf pdfs qr sms ssl tls to tv tvs ui uk un up us vms vpn vpns'.split(' ')
)

/** Query parameters that choose an operation: that is the method's task (rule P3). */
export const operationParameters: ReadonlySet<string> = new Set(['action', 'cmd', 'command', 'do', 'method', 'op', 'operation'])

/** What a plain read by POST is called (rule M10). */
export const searchWords: ReadonlySet<string> = new Set(['lookup', 'lookups', 'queries', 'query', 'search', 'searches'])

/** Names, in lower case and without separators, under which a version travels in a header or parameter (rule V2). */
export const versionNames: ReadonlySet<string> = new Set(['acceptversion', 'apiversion', 'version', 'xapiversion', 'xversion'])
