const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** GET and HEAD, whose answers caches keep. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The methods that change something. */
export function isWrite(method: string): boolean {
  return writes.has(method)
}
