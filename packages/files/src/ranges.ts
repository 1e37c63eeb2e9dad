import type { ByteRange } from './store.ts'

/**
 * Returns the range that a `Range` header asks for (RFC 9110 §14.2): undefined for a header to ignore, which is one that is invalid, has several ranges or
 * another unit, and `unsatisfiable` for a range beyond the end.
 */
export function rangeOf(header: string, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size - 1 }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
