/** The directives of `Cache-Control` as data: the seven that the rules know (C2, RFC 9111 §5.2.2). */
export interface CacheDirectives {
  /** Shared caches may keep the answer. */
  readonly public?: true
  /** Only the caller's own cache may keep it. */
  readonly private?: true
  /** It is kept, and asked for again before each use. */
  readonly noCache?: true
  /** It is not kept at all; stands alone. */
  readonly noStore?: true
  /** How long it may be used without asking, in seconds: at most 31,536,000, a year. */
  readonly maxAgeSeconds?: number
  /** The same for shared caches. */
  readonly sMaxAgeSeconds?: number
  /** Once too old it is not used, not even while the service is down. */
  readonly mustRevalidate?: true
}

/**
 * How the answers of a route may be kept (rule C3), by name or by directives:
 * `public` for what everyone may see and rarely changes, `private` for what belongs to the caller, `no-cache` for what changes fast,
 * `no-store` for what nobody may keep.
 */
export type CachePolicy = 'public' | 'private' | 'no-cache' | 'no-store' | CacheDirectives

/** A policy as values of `Cache-Control`. */
export interface CacheControl {
  readonly value: string
  /** For a caller who is known: never one that lets a shared cache keep the answer. */
  readonly personal: string
  /** `false` for `no-store`. */
  readonly isKept: boolean
}

/** What nobody may keep, as every answer to a write and every error. */
export const unkept: CacheControl = { value: 'no-store', personal: 'no-store', isKept: false }

const personal = 'private, no-cache'
const year = 31_536_000
const names: { readonly [Name in keyof CacheDirectives]-?: string } = {
  public: 'public',
  private: 'private',
  noCache: 'no-cache',
  noStore: 'no-store',
  maxAgeSeconds: 'max-age',
  sMaxAgeSeconds: 's-maxage',
  mustRevalidate: 'must-revalidate'
}

/** Writes a policy, or throws a `TypeError` of one line that begins with `where` for one that makes no sense. */
export function cacheControl(policy: CachePolicy, publicMaxAgeSeconds: number, where: string): CacheControl {
  if (policy === 'no-store') return unkept
  if (policy === 'private') return { value: personal, personal, isKept: true }
  if (policy === 'no-cache') return { value: 'no-cache', personal, isKept: true }
  const directives = policy === 'public' ? { public: true as const, maxAgeSeconds: publicMaxAgeSeconds } : policy
  requireSense(directives, where)
  const value = Object.entries(names)
    .flatMap(([member, name]) => {
      const set = directives[member as keyof CacheDirectives]
      return set === undefined ? [] : typeof set === 'number' ? `${name}=${set}` : name
    })
    .join(', ')
  if (directives.noStore) return unkept
  return { value, personal: directives.private ? value : personal, isKept: true }
}

function requireSense(directives: unknown, where: string): asserts directives is CacheDirectives {
  const refuse = (fault: string) => {
    throw new TypeError(`conditional-caching: ${where} ${fault}`)
  }
  if (typeof directives !== 'object' || directives === null || Array.isArray(directives)) {
    refuse(
      `is ${JSON.stringify(directives)}. Give "public", "private", "no-cache", "no-store" or directives, as { public: true, maxAgeSeconds: 60 }.`
    )
  }
  const entries = Object.entries(directives as object).filter(([, value]) => value !== undefined)
  for (const [member, value] of entries) {
    if (!Object.hasOwn(names, member)) refuse(`has the unknown directive "${member}". There are ${Object.keys(names).join(', ')}.`)
    if (member.endsWith('Seconds')) {
      if (!Number.isInteger(value) || value < 0 || value > year)
        refuse(`has ${member} ${value}. Give whole seconds from 0 to ${year}, a year.`)
    } else if (value !== true) refuse(`has ${member}: ${value}. Give true, or leave it out.`)
  }
  const set = directives as CacheDirectives
  if (entries.length === 0) refuse('says nothing. Give at least one directive.')
  if (set.noStore && entries.length > 1) refuse('has noStore beside others. What is not stored needs no other directive.')
  if (set.public && set.private) refuse('is public and private at once. Choose one.')
  if (set.private && set.sMaxAgeSeconds !== undefined)
    refuse('is private and has sMaxAgeSeconds. Shared caches do not keep what is private.')
  if (set.noCache && (set.maxAgeSeconds !== undefined || set.sMaxAgeSeconds !== undefined)) {
    refuse('has noCache and an age. What is asked for again before each use has no age.')
  }
}
