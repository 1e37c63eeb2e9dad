// pnpm bench standard-schema: a body and a response validated by Zod and by Valibot, compared with the same JSON Schemas on Fastify alone.
const work = (name: string, server: string, path: string, against?: string) => ({
  name,
  server: [server],
  ...(against && { against }),
  async load(address: string) {
    const url = address + path
    if (path !== '/orders') return { url }
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"product":"tea","quantity":2}' } as const
    return { url, ...request }
  }
})

export const works = [
  work('POST, JSON Schema', 'plain', '/orders'),
  work('POST, JSON Schema and the plugin', 'registered', '/orders', 'POST, JSON Schema'),
  work('POST, Zod', 'zod', '/orders', 'POST, JSON Schema'),
  work('POST, Valibot', 'valibot', '/orders', 'POST, JSON Schema'),
  work('list of 50, JSON Schema', 'plain', '/list'),
  work('list of 50, Zod', 'zod', '/list', 'list of 50, JSON Schema'),
  work('list of 50, Valibot', 'valibot', '/list', 'list of 50, JSON Schema')
]
