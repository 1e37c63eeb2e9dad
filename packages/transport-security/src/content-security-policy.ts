import { validateHeaderValue } from 'node:http'
import { type OptionNames, requireKnownNames } from '@concordat/plugin-options'
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

/** Directives with their sources, for example `{ scriptSrc: ["'self'"] }`. A directive without sources has an empty list. */
export type ContentSecurityPolicyDirectives = { readonly [directive in (typeof directiveNames)[number]]?: readonly string[] | undefined }

/**
 * The policy of a route: directives that are added to `default-src 'none';frame-ancestors 'none'` or replace one of them, or the
 * whole policy as a string.
 */
export type ContentSecurityPolicy = string | ContentSecurityPolicyDirectives

/** The directives for a JSON API: nothing is loaded, and framing is not allowed. */
export const apiDirectives: { readonly defaultSrc: string[]; readonly frameAncestors: string[] } = {
  defaultSrc: ["'none'"],
  frameAncestors: ["'none'"]
}

const knownNames = Object.fromEntries(directiveNames.map((name) => [name, true])) as OptionNames<ContentSecurityPolicyDirectives>

/** Returns the header value of a policy. Throws a `TypeError` that names the route if the policy is invalid. */
export function policyHeader(policy: ContentSecurityPolicy, route: string): string {
  requireKnownNames('transport-security', policy, knownNames, `${route}: config.contentSecurityPolicy`)
  try {
    const value = typeof policy === 'string' ? policy.trim() : written(policy)
    if (value === '') throw new Error('it is empty.')
    validateHeaderValue('content-security-policy', value)
    return value
  } catch (error) {
    throw new TypeError(
      `transport-security: contentSecurityPolicy of ${route} is invalid: ${(error as Error).message} Use directives, for example { scriptSrc: ["'self'"] }, or a string.`,
      { cause: error }
    )
  }
}

function written(policy: ContentSecurityPolicyDirectives) {
  if (typeof policy !== 'object' || policy === null) throw new Error(`it is ${String(policy)}.`)
  const own = Object.entries(policy).filter(([, sources]) => sources !== undefined)
  const bad = own.find(([, sources]) => !Array.isArray(sources))
  if (bad !== undefined) throw new Error(`${bad[0]} must have a list of sources.`)
  const directives = { ...apiDirectives, ...Object.fromEntries(own) } as Record<string, string[]>
  return new Map(headersWrittenBy(contentSecurityPolicy({ useDefaults: false, directives }))).get('content-security-policy') ?? ''
}
