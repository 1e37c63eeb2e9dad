import { type ApiError, defineErrors, type ErrorList } from '@concordat/plugin-kit/api-error'
import type { StoreHealth } from './store-health.ts'

const list = defineErrors(
  {
    NOT_READY: {
      statusCode: 503,
      retry: 'later',
      message: {
        en: 'A store that requests need is not available. Send requests to another process.',
        es: 'Un almacén que las peticiones necesitan no está disponible. Envíe las peticiones a otro proceso.'
      },
      remedy:
        'For load balancers: send requests to another process until this one is ready. `errors` lists the stores for clients on its machine, or with the permission health:read.'
    },
    PROCESS_STOPPING: {
      statusCode: 503,
      retry: 'later',
      message: {
        en: 'The process is about to stop. Send requests to another process.',
        es: 'El proceso está a punto de detenerse. Envíe las peticiones a otro proceso.'
      },
      remedy: 'For load balancers: send requests to another process.'
    }
  },
  {
    requiredStore: { en: 'This store is required, and not available.', es: 'Este almacén es necesario y no está disponible.' },
    optionalStore: {
      en: 'This store is not available. Requests are served without it.',
      es: 'Este almacén no está disponible. Las peticiones se atienden sin él.'
    }
  }
)

/** Every error that `GET /health/ready` of the preset raises. */
export const conventionsErrors: ErrorList = list

const headers = { 'retry-after': '2' }
// A 503 with a cause is logged once for all probes of an outage.
const cause = new Error('The health checks refuse probes. The log has the reason.')

/** Creates the 503 that names the stores that are not available, and whether requests need them, to clients that may see them. */
export function notReady(stores: readonly StoreHealth[] | undefined): ApiError {
  const errors = stores?.map(({ name, isRequired }) => ({
    field: name,
    key: isRequired ? ('requiredStore' as const) : ('optionalStore' as const)
  }))
  return list.create('NOT_READY', { errors, headers, cause })
}

/** Creates the 503 of a process that still serves, and asks load balancers to send nothing more. */
export function processStopping(): ApiError {
  return list.create('PROCESS_STOPPING', { headers })
}
