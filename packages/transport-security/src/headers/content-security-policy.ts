import { describeOptions, value } from '@concordat/plugin-kit/options'
import { contentSecurityPolicy } from 'helmet'
import { apiDirectives, headersWrittenBy } from './header-block.ts'

const { validateHeaderValue } = process.getBuiltinModule('node:http')

// Those of helmet. A misspelt directive protects nothing, so no other name is accepted.
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

const policyDirectives = describeOptions(
  'transport-security',
  Object.fromEntries(directiveNames.map((name) => [name, value<readonly string[]>()]))
)

/** Directives with their sources, for example `{ scriptSrc: ["'self'"] }`. A directive without sources has an empty list. */
type ContentSecurityPolicyDirectives = { readonly [Name in (typeof directiveNames)[number]]?: readonly string[] | undefined }

/**
 * The policy of a route: directives that are added to `default-src 'none';frame-ancestors 'none'` or replace one of them, or the
 * whole policy as a string.
 */
export type ContentSecurityPolicy = string | ContentSecurityPolicyDirectives

/** Returns the header value of a policy. Throws a `TypeError` that names the route if the policy is invalid. */
export function policyHeader(policy: ContentSecurityPolicy, route: string): string {
  const directives = typeof policy === 'object' && policy !== null ? readDirectives(policy, route) : undefined
  try {
    const text: unknown = directives ? written(directives) : policy
    if (typeof text !== 'string') throw new Error(`it is ${JSON.stringify(text)}.`)
    if (text.trim() === '') throw new Error('it is empty.')
    validateHeaderValue('content-security-policy', text.trim())
    return text.trim()
  } catch (error) {
    throw new TypeError(
      `transport-security: contentSecurityPolicy of ${route} is invalid: ${(error as Error).message} Use directives, for example { scriptSrc: ["'self'"] }, or a string.`,
      { cause: error }
    )
  }
}

function readDirectives(policy: ContentSecurityPolicyDirectives, route: string) {
  const read = policyDirectives.read(policy, `${route}: config.contentSecurityPolicy`)
  return Object.entries(read).filter(([, list]) => list !== undefined)
}

function written(own: readonly (readonly [string, readonly string[] | undefined])[]) {
  const bad = own.find(([, list]) => !Array.isArray(list))
  if (bad !== undefined) throw new Error(`${bad[0]} must have a list of sources.`)
  const directives = { ...apiDirectives, ...Object.fromEntries(own) } as Record<string, string[]>
  return new Map(headersWrittenBy(contentSecurityPolicy({ useDefaults: false, directives }))).get('content-security-policy')
}
