// Requests to a running service, and what it responded.

// oxlint-disable-next-line typescript/no-explicit-any -- any resource
type Loose = any

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body, if it is JSON. */
  readonly body: Loose
}

export type Send = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Exchange>

/**
 * Returns a function that sends a request with `credentials` and remembers the response. `fetch` may check it. A body that is a text, bytes or a form
 * is sent as it is.
 */
export function recorder(
  service: string,
  fetch: typeof globalThis.fetch,
  credentials: Readonly<Record<string, string>> = {}
): { readonly send: Send; readonly exchanges: readonly Exchange[] } {
  const exchanges: Exchange[] = []
  const send: Send = async (method, path, body, headers = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData
    const response = await fetch(service + path, {
      method,
      headers: { ...credentials, ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: (isRaw ? body : JSON.stringify(body)) as NonNullable<RequestInit['body']> })
    })
    const text = await response.text()
    const isJson = text !== '' && /[/+]json/.test(response.headers.get('content-type') ?? '')
    const exchange = { method, path, status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
    exchanges.push(exchange)
    return exchange
  }
  return { send, exchanges }
}

/** Reads every path of a description, with the identifier of the first item of the list in place of each parameter. */
export async function readDescribed(send: Send, paths: Readonly<Record<string, object>>): Promise<void> {
  const isRead = (template: string) => 'get' in (paths[template] ?? {})
  for (const template of Object.keys(paths)) if (isRead(template)) await readAt(send, template, isRead)
}

// Files of jobs, and jobs without a list, are read by their links.
async function readAt(send: Send, template: string, isRead: (template: string) => boolean) {
  let path = ''
  const segments = template.split('/')
  for (const [index, segment] of segments.entries()) {
    if (index === 0) continue
    if (!segment.startsWith('{')) {
      path += `/${segment}`
      continue
    }
    if (!isRead(segments.slice(0, index).join('/'))) return
    const { body } = await send('GET', `${path}?perPage=1`)
    const [first] = body?.data ?? []
    if (first === undefined) return
    path += `/${first.id ?? first.jobId}`
  }
  if (!path.endsWith('/files')) await send('GET', path)
}

/** Returns the path and the query of a link. */
export function pathOf(href: string): string {
  const { pathname, search } = new URL(href)
  return pathname + search
}

/** Returns a name for messages. */
export function nameOf({ method, path, status }: Exchange): string {
  return `${method} ${path} ${status}`
}
