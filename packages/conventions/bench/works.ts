// pnpm bench: an item and a collection through the whole preset, and with one plugin left out at a time, against bare Fastify.
import { item, list } from './item.ts'

const baseline = 'bare'
const kinds = [
  baseline,
  'alike',
  'preset',
  'bare-logged',
  'preset-logged',
  'without-transport-security',
  'without-error-catalogue',
  'without-versioning',
  'without-http-methods',
  'without-content-negotiation',
  'without-envelope',
  'without-rate-limiting',
  'without-authentication',
  'with-fastify-timeout'
]

export const works = [
  { work: 'item', path: `/v1/products/${item.id}`, resource: item },
  { work: 'collection', path: '/v1/products', resource: list }
].flatMap(({ work, path, resource }) =>
  kinds.map((kind) => ({
    name: `${work}: ${kind}`,
    server: [kind],
    ...(kind !== baseline && { against: `${work}: ${baseline}` }),
    async load(address: string, headers: Record<string, string>) {
      const response = await fetch(address + path, { headers })
      const body = (await response.json()) as Record<string, unknown>
      const isPlain = kind.startsWith('bare') || kind === 'without-envelope'
      if (response.status !== 200 || JSON.stringify(isPlain ? body : body['data']) !== JSON.stringify(resource))
        throw new Error(`${kind} sends a wrong response: ${JSON.stringify(body)}`)
      return { url: address + path, headers, pipelining: 4 }
    }
  }))
)
