import { listElements, memoize, weightOf } from '@concordat/plugin-kit/accept'

// What servers send. `*` stands for those that the header does not list.
const codings = ['br', 'gzip', 'zstd', 'deflate', 'identity']

/**
 * Returns an `Accept-Encoding` header in which each coding that `*` includes is named, and codings of weight 0 are left out, because compressors
 * read `gzip;q=0, *` as `gzip` (RFC 9110 §12.5.3). Returns undefined if no coding is acceptable, not even `identity`.
 */
export const namedCodings: (header: string) => string | undefined = memoize((header) => {
  const weights = new Map(listElements(header).map(readElement))
  const others = weights.get('*')
  weights.delete('*')
  weights.delete('')
  if (others !== undefined) for (const coding of codings) if (!weights.has(coding)) weights.set(coding, others)
  const accepted = [...weights].filter(([, weight]) => weight > 0)
  if (accepted.length === 0 && weights.get('identity') === 0) return undefined
  return accepted.map(([coding, weight]) => (weight === 1 ? coding : `${coding};q=${weight}`)).join(', ')
})

function readElement(element: string): readonly [coding: string, weight: number] {
  const [coding = '', ...parameters] = element.split(';').map((part) => part.trim().toLowerCase())
  const q = parameters.find((parameter) => parameter.startsWith('q='))
  return [coding, weightOf(q?.slice(2))]
}
