import { describeOptions, integer, oneOf } from '@concordat/plugin-kit/options'

const set = oneOf([true], {})
const age = integer({ max: 31_536_000 })

/** The directives of `Cache-Control` of rule C2 (RFC 9111 §5.2.2), as data. */
interface CacheDirectives {
  /** Whether shared caches may store the response. */
  readonly public?: true | undefined
  /** Whether only the client's private cache may store the response. */
  readonly private?: true | undefined
  /** Whether a stored response must be validated before each use. */
  readonly noCache?: true | undefined
  /** Whether the response must not be stored; cannot be combined with other directives. */
  readonly noStore?: true | undefined
  /** How long the response may be used without validation, at most a year. */
  readonly maxAgeSeconds?: number | undefined
  /** How long shared caches may use the response without validation, at most a year. */
  readonly sMaxAgeSeconds?: number | undefined
  /** Whether a stale response must not be used, even while the service is down. */
  readonly mustRevalidate?: true | undefined
}

/**
 * The cache policy of the responses of a route (rule C3), by name or by directives: `public` for data of all clients that rarely changes, `private` for
 * data of the caller, `no-cache` for data that changes often, `no-store` for responses that must not be stored.
 */
export type CachePolicy = 'public' | 'private' | 'no-cache' | 'no-store' | CacheDirectives

/** A cache policy as values of `Cache-Control`. */
export interface CacheControl {
  readonly value: string
  /** The value for an authenticated caller, which never allows a shared cache to store the response. */
  readonly personal: string
  /** Whether the response may be stored. */
  readonly isStored: boolean
}

/** The policy of responses that must not be stored, such as responses to writes and error responses. */
export const noStore: CacheControl = { value: 'no-store', personal: 'no-store', isStored: false }

const personal = 'private, no-cache'
const names: { readonly [Name in keyof CacheDirectives]-?: string } = {
  public: 'public',
  private: 'private',
  noCache: 'no-cache',
  noStore: 'no-store',
  maxAgeSeconds: 'max-age',
  sMaxAgeSeconds: 's-maxage',
  mustRevalidate: 'must-revalidate'
}
const cacheDirectives = describeOptions(
  'conditional-caching',
  Object.fromEntries(Object.keys(names).map((name) => [name, name.endsWith('Seconds') ? age : set]))
)

/** Returns the `Cache-Control` values of a policy. Throws a `TypeError` for an invalid policy of the option or key at `path`. */
export function cacheControl(policy: CachePolicy, path: string): CacheControl {
  if (policy === 'no-store') return noStore
  if (policy === 'private') return { value: personal, personal, isStored: true }
  if (policy === 'no-cache') return { value: 'no-cache', personal, isStored: true }
  const directives = policy === 'public' ? { public: true as const, maxAgeSeconds: 86_400 } : readDirectives(policy, path)
  if (directives.noStore) return noStore
  const value = Object.entries(names).flatMap(([member, name]) => {
    const given = directives[member as keyof CacheDirectives]
    return given === undefined ? [] : typeof given === 'number' ? `${name}=${given}` : name
  })
  return { value: value.join(', '), personal: directives.private ? value.join(', ') : personal, isStored: true }
}

function readDirectives(policy: CacheDirectives, path: string): CacheDirectives {
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${path}: ${fault}`)
  }
  if (typeof policy !== 'object' || policy === null || Array.isArray(policy)) {
    refuse(
      `the policy must be "public", "private", "no-cache", "no-store" or directives such as { public: true, maxAgeSeconds: 60 }, but is ${JSON.stringify(policy)}.`
    )
  }
  const directives = cacheDirectives.read(policy as Readonly<Record<string, never>>, path) as CacheDirectives
  const count = Object.values(directives).filter((value) => value !== undefined).length
  if (count === 0) refuse('the policy must not be empty. Set at least one directive.')
  if (directives.noStore && count > 1)
    refuse('noStore cannot be combined with other directives. Remove them: a response that is not stored needs none.')
  if (directives.public && directives.private) refuse('public and private must not be combined. Remove one of them.')
  if (directives.private && directives.sMaxAgeSeconds !== undefined)
    refuse('private and sMaxAgeSeconds must not be combined. Remove one of them: shared caches do not store private responses.')
  if (directives.noCache && (directives.maxAgeSeconds ?? directives.sMaxAgeSeconds) !== undefined)
    refuse('noCache cannot be combined with an age. Remove one of them: a response that is validated before each use needs no age.')
  return directives
}
