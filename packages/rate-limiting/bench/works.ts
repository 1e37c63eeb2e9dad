// pnpm bench rate-limiting: compares a small GET with each kind of limit, and with @fastify/rate-limit, to bare Fastify.
const load = (address: string) => ({ url: `${address}/products/1` })

export const works = [
  { name: 'bare', server: ['bare'], load },
  ...['address', 'address-and-client', 'overload', 'official'].map((name) => ({ name, server: [name], against: 'bare', load }))
]
