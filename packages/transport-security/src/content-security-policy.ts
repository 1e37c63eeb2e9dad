import { validateHeaderValue } from 'node:http'
import { contentSecurityPolicy } from 'helmet'
import { headersWrittenBy } from './helmet-headers.ts'

const directiveNames = [
  'baseUri',
  'childSrc',
  'connectSrc',
  'defaultSrc',
  'fontSrc',
  'formAction',
  'frameAncestors',
  'frameSrc',
  'imgSrc',
  'manifestSrc',
  'mediaSrc',
  'objectSrc',
  'requireTrustedTypesFor',
  'sandbox',
  'scriptSrc',
  'scriptSrcAttr',
  'scriptSrcElem',
  'styleSrc',
  'styleSrcAttr',
  'styleSrcElem',
  'trustedTypes',
  'upgradeInsecureRequests',
  'workerSrc'
] as const

/** Directives with their sources, as `{ scriptSrc: ["'self'"] }`; one without sources has an empty list. */
export type ContentSecurityPolicyDirectives = { readonly [directive in (typeof directiveNames)[number]]?: readonly string[] | undefined }

/**
 * The policy of one route: directives that are added to `default-src 'none';frame-ancestors 'none'`, or replace one of these;
 * or the whole policy as a text.
 */
export type ContentSecurityPolicy = string | ContentSecurityPolicyDirectives

/** What a JSON API needs: nothing is loaded, nobody frames it. */
export const apiDirectives: { readonly defaultSrc: string[]; readonly frameAncestors: string[] } = {
  defaultSrc: ["'none'"],
  frameAncestors: ["'none'"]
}

/** Writes a policy as a header. Throws a `TypeError` that names the route for what is no policy. */
export function policyHeader(policy: ContentSecurityPolicy, route: string): string {
  try {
    const value = typeof policy === 'string' ? policy.trim() : written(policy)
    if (value === '') throw new Error('it is empty')
    validateHeaderValue('content-security-policy', value)
    return value
  } catch (error) {
    throw new TypeError(
      `transport-security: the contentSecurityPolicy of ${route} is none: ${(error as Error).message} Give directives, as { scriptSrc: ["'self'"] }, or a text.`,
      { cause: error }
    )
  }
}

function written(policy: ContentSecurityPolicyDirectives) {
  if (typeof policy !== 'object' || policy === null) throw new Error(`it is ${String(policy)}.`)
  const own = Object.entries(policy).filter(([, sources]) => sources !== undefined)
  const unknown = own.find(([name]) => !(directiveNames as readonly string[]).includes(name))
  if (unknown !== undefined) throw new Error(`${unknown[0]} is no directive.`)
  const bad = own.find(([, sources]) => !Array.isArray(sources))
  if (bad !== undefined) throw new Error(`${bad[0]} has no list of sources.`)
  const directives = { ...apiDirectives, ...Object.fromEntries(own) } as Record<string, string[]>
  return new Map(headersWrittenBy(contentSecurityPolicy({ useDefaults: false, directives }))).get('content-security-policy') ?? ''
}
