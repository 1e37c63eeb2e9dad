// pnpm bench authentication: an item GET. Each credential is sent to a bare Fastify, to a public route of the plugin, to a server
// that caches it and, for tokens, to a server that verifies it each time: a longer token costs every server more.
const ways = ['bare', 'public', 'remembered', 'verified']

export const works = ['HS256', 'RS256', 'ES256', 'EdDSA', 'API key'].flatMap((credential) =>
  ways
    .filter((way) => way !== 'verified' || credential !== 'API key')
    .map((way) => ({
      name: `${credential} ${way}`,
      server: [way, credential],
      ...(way !== 'bare' && { against: `${credential} bare` }),
      load: (address: string, headers: Record<string, string>) => ({ url: `${address}/products/1`, headers, pipelining: 4 })
    }))
)
