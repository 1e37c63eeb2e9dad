import { callback } from '@concordat/plugin-kit/options'

/** Sends a request, like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Creates the option `fetch`, by default the global function. */
export function fetchOption() {
  return callback<Fetch>('sends a request, like the global fetch', { default: (url, init) => fetch(url, init) })
}

const maxBytes = 262_144
// Plain http to these hosts does not leave the machine (RFC 8252 §8.3).
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Sends a request without following redirects, and returns the frozen JSON of its response. Rejects for any status code except 200, more than
 * 256 KiB, and a body that is not JSON. No message quotes the request or the body.
 */
export async function fetchJson(fetchResponse: Fetch, url: string, init: RequestInit): Promise<unknown> {
  const { status, body } = await fetchResponse(url, { ...init, redirect: 'manual' })
  if (status !== 200) {
    await body?.cancel()
    throw new Error(`${url} returned status code ${status}.`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new Error(`${url} returned more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString(), (_name, member: unknown) => Object.freeze(member))
  } catch {
    throw new Error(`${url} returned a body that is not JSON.`)
  }
}

/** Throws a `TypeError` of one line, unless the text is an https URL, or an http URL of this machine, without credentials. */
export function requireSecureUrl(option: string, text: string): void {
  const url = URL.parse(text)
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopbackHosts.has(url.hostname))
  if (!isSecure || url.username !== '' || url.password !== '') {
    throw new TypeError(`authentication: ${option} must be an https URL without credentials. Only localhost may use http.`)
  }
}
