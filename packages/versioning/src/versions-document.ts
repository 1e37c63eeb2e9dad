import { hrefOf } from '@concordat/links'
import { statusAt, type Version, type VersionStatus } from './lifecycle.ts'

/** Version in the response to `GET /` (rule V5). Dates are ISO 8601 and are present if the version has an end. */
export interface ListedVersion {
  readonly version: string
  readonly status: VersionStatus
  readonly href: string
  readonly deprecatedAt?: string | undefined
  readonly sunsetAt?: string | undefined
  readonly documentation?: string | undefined
}

/** JSON Schema of the response to `GET /`. */
export const versionsSchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['versions'],
  properties: {
    versions: {
      type: 'array',
      items: {
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
    }
  }
}

/** Returns the versions, oldest first, with their status at this time. */
export function listVersions(versions: readonly Version[], time: number, origin: string, base: string): { versions: ListedVersion[] } {
  return {
    versions: versions.map((version) => ({
      version: version.name,
      status: statusAt(version, time),
      href: hrefOf(origin, `${base}/${version.name}`),
      ...(version.ending && {
        deprecatedAt: new Date(version.ending.deprecatedAt).toISOString(),
        sunsetAt: new Date(version.ending.sunsetAt).toISOString(),
        documentation: version.ending.documentation
      })
    }))
  }
}
