import { type CheckedResponse, type ResponseChecker, responseChecker } from '@concordat/openapi/testing'

type OpenapiDocument = Parameters<typeof responseChecker>[0]

const known = new Map<string, ResponseChecker>()

/** Returns a function that checks a response of an API path against the description of its version, and rejects when they differ. */
export function describedResponses(
  documentOf: (version: string) => Promise<OpenapiDocument>
): (received: CheckedResponse) => Promise<void> {
  const checkers = new Map<string, Promise<ResponseChecker>>()
  return async (received) => {
    const version = /^\/(v[12])\/(?!openapi(\?|$))/.exec(received.url)?.[1]
    if (version === undefined) return
    if (!checkers.has(version)) checkers.set(version, documentOf(version).then(checkerOf))
    const problems = (await (checkers.get(version) as Promise<ResponseChecker>))(received)
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }
}

// The services that a test starts one after another have the same description except for their address.
function checkerOf(document: OpenapiDocument): ResponseChecker {
  const text = JSON.stringify({ ...document, servers: undefined })
  const checker = known.get(text) ?? responseChecker(document)
  known.set(text, checker)
  return checker
}

const checks = new Map<string, ReturnType<typeof describedResponses>>()

/** Calls `fetch`, and rejects when the response does not match the description that the same process returns. */
export async function describedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const { method } = request
  const { origin, pathname, search } = new URL(request.url)
  if (!checks.has(origin))
    checks.set(
      origin,
      describedResponses((version) => documentOf(`${origin}/${version}/openapi`))
    )
  const response = await fetch(request)
  // `fetch` has already decoded the content.
  const { 'content-encoding': _, ...headers } = Object.fromEntries(response.headers)
  const body = Buffer.from(await response.clone().arrayBuffer())
  await checks.get(origin)?.({ method, url: pathname + search, status: response.status, headers, body })
  return response
}

// The description is requested as in production: with https and the public host.
async function documentOf(url: string) {
  const received = await fetch(url, { headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' } })
  return (await received.json()) as OpenapiDocument
}
