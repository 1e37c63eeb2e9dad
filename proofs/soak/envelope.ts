// The shape of every error of the service.
const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const members = {
  envelope: ['error', '_links', '_meta'],
  error: ['status', 'error', 'message', 'code', 'retry', 'effect', 'errors'],
  entry: ['field', 'message']
}

/** Returns whether a body is the error envelope with this status: with these members, and no others. */
export function isErrorEnvelope(status: number, body: unknown): boolean {
  if (!isRecord(body) || !hasOnly(body, members.envelope)) return false
  const { error, _links: links, _meta: meta } = body
  return (
    isRecord(error) &&
    hasOnly(error, members.error) &&
    error['status'] === status &&
    isText(error['error']) &&
    isText(error['message']) &&
    /^[A-Z][A-Z\d_]+$/.test(String(error['code'])) &&
    ['later', 'changed', 'never'].includes(String(error['retry'])) &&
    ['none', 'done', 'unknown'].includes(String(error['effect'])) &&
    (error['errors'] === undefined ||
      (Array.isArray(error['errors']) &&
        error['errors'].every((entry) => isRecord(entry) && hasOnly(entry, members.entry) && isText(entry['message'])))) &&
    Array.isArray(links) &&
    links.every((link) => isRecord(link) && isText(link['rel']) && isText(link['href']) && isText(link['method'])) &&
    isRecord(meta) &&
    isText(meta['version']) &&
    isText(meta['timestamp'])
  )
}

function hasOnly(value: Record<string, unknown>, names: readonly string[]) {
  return Object.keys(value).every((name) => names.includes(name))
}

/** Returns the value of a JSON text, or undefined. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
