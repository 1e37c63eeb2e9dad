const writes: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Returns whether the method is GET or HEAD, whose responses can be cached. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Returns whether the method is a write: POST, PUT, PATCH or DELETE. */
export function isWrite(method: string): boolean {
  return writes.has(method)
}
