import { serviceWaivers } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { originResolver } from '@concordat/plugin-kit/links'
import { describeOptions, type OptionsOf, oneOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { DescribedRoute } from './document/described-route.ts'
import type { Header, Parameter, Response } from './document/document.ts'
import { releasedDigests } from './document/released-digests.ts'

/** Additions to the description of an operation. */
export interface OperationParts {
  readonly parameters?: readonly Parameter[] | undefined
  /** Response headers by name. `statuses` limits a header to some status codes (`2XX`, `201`). @default all status codes */
  readonly headers?: Readonly<Record<string, Header & { readonly statuses?: readonly string[] | undefined }>> | undefined
  /** The files in a multipart body, by name, beside the members of the body schema. `contentType` lists the media types that are accepted. */
  readonly files?:
    | Readonly<Record<string, { readonly schema: JsonSchema; readonly isRequired: boolean; readonly contentType?: string | undefined }>>
    | undefined
  /** Responses that no schema declares, such as a 304, by status code. */
  readonly responses?: Readonly<Record<string, Response>> | undefined
  /** Sentences to add to the description. */
  readonly notes?: readonly string[] | undefined
  /** Specification extensions: keys that start with `x-`. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>> | undefined
}

/** A version of the API, in the form that versioning takes too. */
interface DescribedVersion {
  readonly status?: string | undefined
  readonly deprecatedAt?: string | Date | undefined
  readonly sunsetAt?: string | Date | undefined
  /** The URL of the migration notes. */
  readonly documentation?: string | undefined
  readonly successor?: number | undefined
  readonly brownouts?: readonly object[] | undefined
}

const versionNames = { status: true, deprecatedAt: true, sunsetAt: true, documentation: true, successor: true, brownouts: true } as const

/** The description of {@link OpenapiOptions}. @readme */
export const openapiOptions = describeOptions('openapi', {
  /** The name of the API. */
  title: value<string>({ default: 'API' }),
  /** The description of the API, in Markdown. */
  description: value<string>({ default: 'An API that follows the Concordat conventions.' }),
  /** `{ name, url, email }`. */
  contact: value<{ readonly name?: string | undefined; readonly url?: string | undefined; readonly email?: string | undefined }>({
    names: { name: true, url: true, email: true }
  }),
  /** `{ name, url }` or `{ name, identifier }`. */
  license: value<{ readonly name: string; readonly url?: string | undefined; readonly identifier?: string | undefined }>({
    names: { name: true, url: true, identifier: true }
  }),
  /** The versions, as in versioning: `{ 1: { deprecatedAt, sunsetAt, documentation } }`. */
  versions: value<Readonly<Record<number, DescribedVersion>>>({ default: { 1: {} }, names: { '*': versionNames } }),
  /** The server in the documents, by default `/`. */
  publicUrl: value<string>(),
  /** `config` of the plugin's own routes. */
  routeConfig: value<Readonly<Record<string, unknown>>>({ default: { public: true, operational: true } }),
  /** `(route) => ({ parameters, headers, responses, notes, extensions })`: additions to an operation. */
  parts: value<readonly ((route: DescribedRoute) => OperationParts | undefined)[]>({ default: [] }),
  /** A route with `config.permissions` accepts any of these schemes; by default those of authentication, otherwise a bearer token. */
  securitySchemes: value<Readonly<Record<string, object>>>(),
  /** `error`: a finding stops the start. `warning`: it is logged. By default `error`, and `off` in production. */
  lint: oneOf(['error', 'warning', 'off'], {}),
  /** Rules that the service does not follow until a day, by id: `{ F1: { reason: 'clients read the old names', until: '2027-06-30' } }`. */
  waivers: serviceWaivers(),
  /** The folder of `npx concordat release`, for example `new URL('../released/', import.meta.url)`: its digests are sent in `Description-Digest`. */
  released: value<URL | string>(),
  /** The path of the page; `false`: no page, as in production. By default `/reference`, for clients on this machine only. */
  reference: value<`/${string}` | false>()
})

/** Options of `@concordat/openapi`. */
export interface OpenapiOptions extends OptionsOf<typeof openapiOptions> {}

/** A version of the API, with the data that its document needs. Times are in milliseconds since the Unix epoch. */
export interface VersionToDescribe {
  readonly number: number
  readonly name: string
  /** The digest of its released description, where one is stored. */
  readonly digest: string | undefined
  readonly ending: { readonly deprecatedAt: number; readonly sunsetAt: number; readonly documentation: string | undefined } | undefined
}

/** The options with defaults applied. */
export interface Settings extends Omit<SettingsOf<(typeof openapiOptions)['members']>, 'versions' | 'securitySchemes'> {
  /** The versions, newest first. */
  readonly versions: readonly VersionToDescribe[]
  readonly ownSecuritySchemes: Readonly<Record<string, object>> | undefined
}

/** Returns the options with defaults applied. Throws a `TypeError` of one line when an option is invalid. */
export function resolveOptions(options: OpenapiOptions): Settings {
  const { securitySchemes, ...settings } = openapiOptions.readPlugin(options)
  const { publicUrl, released } = settings
  originResolver({ publicUrl })
  return {
    ...settings,
    // Where the tests have started the service, nothing is left to find, and the description is built when it is first read.
    lint: settings.lint ?? (process.env['NODE_ENV'] === 'production' ? 'off' : 'error'),
    versions: readVersions(settings.versions, released === undefined ? {} : releasedDigests(released)),
    routeConfig: { ...settings.routeConfig, envelope: false },
    ownSecuritySchemes: securitySchemes
  }
}

function readVersions(
  table: Readonly<Record<number, DescribedVersion>>,
  digests: Readonly<Record<string, string>>
): readonly VersionToDescribe[] {
  const numbers = Object.keys(table)
  if (numbers.length === 0) throw new TypeError('openapi: options.versions is empty. Add at least one version, for example { 1: {} }.')
  const wrong = numbers.find((number) => !/^[1-9]\d*$/.test(number))
  if (wrong !== undefined)
    throw new TypeError(
      `openapi: options.versions contains the invalid key "${wrong}". Each key must be an integer of at least 1 (rule V1).`
    )
  return numbers
    .map(Number)
    .toSorted((a, b) => b - a)
    .map((number) => ({
      number,
      name: `v${number}`,
      digest: digests[`v${number}`],
      ending: endingOf(number, table[number] as DescribedVersion)
    }))
}

function endingOf(number: number, { deprecatedAt, sunsetAt, documentation }: DescribedVersion) {
  if (deprecatedAt === undefined || sunsetAt === undefined) return undefined
  const ending = { deprecatedAt: new Date(deprecatedAt).getTime(), sunsetAt: new Date(sunsetAt).getTime(), documentation }
  if (Number.isNaN(ending.deprecatedAt + ending.sunsetAt))
    throw new TypeError(`openapi: options.versions[${number}] has an invalid date. Set deprecatedAt and sunsetAt to valid dates.`)
  return ending
}
