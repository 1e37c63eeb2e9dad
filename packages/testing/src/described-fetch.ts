import { type Descriptions, descriptionsOf } from './described-responses.ts'

const services = new Map<string, Descriptions>()

/** The headers that a description is requested with, as a proxy in front of the service sends them. */
const ofProxies = ['x-forwarded-proto', 'x-forwarded-host', 'x-forwarded-for']

/**
 * Calls `fetch`, and rejects when the response does not match the description that the same service returns. For services in processes of their own,
 * and for clients that take a `fetch`, such as those that are generated.
 *
 * @example
 * const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:3000', fetch: describedFetch })
 */
export async function describedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const { method } = request
  const { origin, pathname, search } = new URL(request.url)
  const forwarded = Object.fromEntries([...request.headers].filter(([name]) => ofProxies.includes(name)))
  const descriptions = services.get(origin) ?? descriptionsOf(async (path) => read(`${origin}${path}`, forwarded))
  services.set(origin, descriptions)
  const response = await fetch(request)
  // `fetch` has already decoded the content.
  const { 'content-encoding': _, ...headers } = Object.fromEntries(response.headers)
  const body = Buffer.from(await response.clone().arrayBuffer())
  await descriptions.check({ method, url: pathname + search, status: response.status, headers, body })
  return response
}

async function read(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers })
  return { status: response.status, text: await response.text() }
}
