import { type OptionNames, optionChecks, requireKnownNames } from '@concordat/plugin-options'

/** The directives of `Cache-Control` as data: the seven directives of rule C2 (RFC 9111 §5.2.2). */
export interface CacheDirectives {
  /** Whether shared caches may store the response. */
  readonly public?: true | undefined
  /** Whether only the client's private cache may store the response. */
  readonly private?: true | undefined
  /** Whether a stored response must be validated before each use. */
  readonly noCache?: true | undefined
  /** Whether the response must not be stored; cannot be combined with other directives. */
  readonly noStore?: true | undefined
  /** How long the response may be used without validation, in seconds: at most 31,536,000, a year. */
  readonly maxAgeSeconds?: number | undefined
  /** How long shared caches may use the response without validation, in seconds: at most 31,536,000, a year. */
  readonly sMaxAgeSeconds?: number | undefined
  /** Whether a stale response must not be used, even while the service is down. */
  readonly mustRevalidate?: true | undefined
}

/**
 * The cache policy of the responses of a route (rule C3), by name or by directives: `public` for data that is visible to all clients and
 * rarely changes, `private` for data of the caller, `no-cache` for data that changes often, `no-store` for responses that must not be
 * stored.
 */
export type CachePolicy = 'public' | 'private' | 'no-cache' | 'no-store' | CacheDirectives

/** A cache policy as values of `Cache-Control`. */
export interface CacheControl {
  readonly value: string
  /** The `Cache-Control` value for an authenticated caller, which never allows a shared cache to store the response. */
  readonly personal: string
  /** Whether the response may be stored: `false` for `no-store`. */
  readonly isStored: boolean
}

/** The policy of responses that must not be stored, such as responses to writes and error responses. */
export const noStore: CacheControl = { value: 'no-store', personal: 'no-store', isStored: false }

const personal = 'private, no-cache'
/** The maximum age that a cache policy can set, in seconds: one year. */
export const maxAgeLimitSeconds = 31_536_000
const { integer, oneOf } = optionChecks('conditional-caching')
const names: { readonly [Name in keyof CacheDirectives]-?: string } = {
  public: 'public',
  private: 'private',
  noCache: 'no-cache',
  noStore: 'no-store',
  maxAgeSeconds: 'max-age',
  sMaxAgeSeconds: 's-maxage',
  mustRevalidate: 'must-revalidate'
}
const knownNames = Object.fromEntries(Object.keys(names).map((name) => [name, true])) as OptionNames<CacheDirectives>

/**
 * Returns the `Cache-Control` values of a policy. Throws a `TypeError` that begins with `where`, the path of the option, if the policy is invalid.
 */
export function cacheControl(policy: CachePolicy, publicMaxAgeSeconds: number, where: string): CacheControl {
  if (policy === 'no-store') return noStore
  if (policy === 'private') return { value: personal, personal, isStored: true }
  if (policy === 'no-cache') return { value: 'no-cache', personal, isStored: true }
  const directives = policy === 'public' ? { public: true as const, maxAgeSeconds: publicMaxAgeSeconds } : policy
  requireDirectives(directives, where)
  const value = Object.entries(names)
    .flatMap(([member, name]) => {
      const set = directives[member as keyof CacheDirectives]
      return set === undefined ? [] : typeof set === 'number' ? `${name}=${set}` : name
    })
    .join(', ')
  if (directives.noStore) return noStore
  return { value, personal: directives.private ? value : personal, isStored: true }
}

function requireDirectives(directives: unknown, where: string): asserts directives is CacheDirectives {
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${where}: ${fault}`)
  }
  if (typeof directives !== 'object' || directives === null || Array.isArray(directives)) {
    refuse(
      `the policy must be "public", "private", "no-cache", "no-store" or directives such as { public: true, maxAgeSeconds: 60 }, but is ${JSON.stringify(directives)}.`
    )
  }
  requireKnownNames('conditional-caching', directives as CacheDirectives, knownNames, where)
  const entries = Object.entries(directives as object).filter(([, value]) => value !== undefined)
  for (const [member, value] of entries) {
    if (member.endsWith('Seconds')) integer(`${where}.${member}`, value, 0, maxAgeLimitSeconds)
    else oneOf(`${where}.${member}`, value, [true])
  }
  const set = directives as CacheDirectives
  if (entries.length === 0) refuse('the policy must not be empty. Set at least one directive.')
  if (set.noStore && entries.length > 1)
    refuse('noStore cannot be combined with other directives. Remove them: a response that is not stored needs none.')
  if (set.public && set.private) refuse('public and private must not be combined. Remove one of them.')
  if (set.private && set.sMaxAgeSeconds !== undefined)
    refuse('private and sMaxAgeSeconds must not be combined. Remove one of them: shared caches do not store private responses.')
  if (set.noCache && (set.maxAgeSeconds !== undefined || set.sMaxAgeSeconds !== undefined)) {
    refuse('noCache cannot be combined with an age. Remove one of them: a response that is validated before each use needs no age.')
  }
}
