import { hrefOf } from '@concordat/links'
import { statusAt, type Version, type VersionStatus } from './lifecycle.ts'

/** Version in the responses to `GET /` and `GET /v<n>` (rule V5). Dates are ISO 8601 and are present if the version has an end. */
export interface ListedVersion {
  readonly version: string
  readonly status: VersionStatus
  readonly href: string
  readonly deprecatedAt?: string | undefined
  readonly sunsetAt?: string | undefined
  readonly documentation?: string | undefined
}

/** JSON Schema of the response to `GET /v<n>`. */
export const versionSchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['version', 'status', 'href'],
  properties: {
    version: { type: 'string' },
    status: { type: 'string', enum: ['current', 'deprecated', 'retired'] },
    href: { type: 'string', format: 'uri' },
    deprecatedAt: { type: 'string', format: 'date-time' },
    sunsetAt: { type: 'string', format: 'date-time' },
    documentation: { type: 'string', format: 'uri' }
  }
}

/** JSON Schema of the response to `GET /`. */
export const versionsSchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['versions'],
  properties: { versions: { type: 'array', items: versionSchema } }
}

/** Returns a version with its status at this time. */
export function listedVersion(version: Version, time: number, origin: string, base: string): ListedVersion {
  return {
    version: version.name,
    status: statusAt(version, time),
    href: hrefOf(origin, `${base}/${version.name}`),
    ...(version.ending && {
      deprecatedAt: new Date(version.ending.deprecatedAt).toISOString(),
      sunsetAt: new Date(version.ending.sunsetAt).toISOString(),
      documentation: version.ending.documentation
    })
  }
}
