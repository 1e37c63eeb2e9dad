import { type ApiError, defineErrors, type ErrorList } from '@concordat/plugin-kit/api-error'
import { type Brownout, type Ending, statusAt, type Version } from './lifecycle.ts'

const list = defineErrors({
  VERSION_RETIRED: {
    statusCode: 410,
    message: {
      en: 'Version {version} of this API was retired on {date}. See {documentation} to migrate.',
      es: 'La versión {version} de esta API se retiró el {date}. Consulte {documentation} para migrar.'
    },
    remedy: 'Migrate to the successor version in the Link header. The migration notes list what changed.'
  },
  VERSION_BROWNOUT: {
    statusCode: 503,
    retry: 'later',
    message: {
      en: 'Version {version} of this API is switched off until {until}, because it ends on {date}. See {documentation} to migrate.',
      es: 'La versión {version} de esta API está desactivada hasta {until}, porque termina el {date}. Consulte {documentation} para migrar.'
    },
    remedy: 'Migrate to the successor version in the Link header. Until the end of this version, it works again after Retry-After.'
  },
  VERSION_NOT_FOUND: {
    statusCode: 404,
    message: {
      en: 'This API does not have the requested version. Available versions: {versions}.',
      es: 'Esta API no tiene la versión solicitada. Versiones disponibles: {versions}.'
    },
    remedy: 'Begin the path with one of the available versions, for example /v1.'
  }
})

/** All errors of this package, for the catalogue's `include`. */
export const versioningErrors: ErrorList = list

/** 410: the version is retired. */
export function versionRetired(name: string, { sunsetAt, documentation }: Ending): ApiError {
  return list.create('VERSION_RETIRED', { params: { version: name, date: new Date(sunsetAt).toISOString().slice(0, 10), documentation } })
}

/** 503: the version is switched off for a while. */
export function versionBrownout(name: string, { sunsetAt, documentation }: Ending, { until }: Brownout, time: number): ApiError {
  const params = { version: name, until: new Date(until).toISOString(), date: new Date(sunsetAt).toISOString().slice(0, 10), documentation }
  const headers = { 'retry-after': String(Math.ceil((until - time) / 1000)), 'cache-control': 'no-store' }
  return list.create('VERSION_BROWNOUT', { params, headers })
}

/** 404: the version does not exist. The message does not repeat what the client sent. */
export function versionNotFound(versions: readonly Version[], time: number): ApiError {
  const usable = versions.filter((version) => statusAt(version, time) !== 'retired').map(({ name }) => name)
  return list.create('VERSION_NOT_FOUND', { params: { versions: usable.join(', ') || '–' } })
}
