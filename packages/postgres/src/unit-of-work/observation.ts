import type { Gauges, Observer } from '@concordat/plugin-kit/observer'
import type { Postgres } from '../connections/postgres.ts'
import type { Unit } from './unit.ts'

const used = { name: 'db.client.connection.count', unit: '{connection}', description: 'Connections of a pool, by state.' }
const max = { name: 'db.client.connection.max', unit: '{connection}', description: 'The maximum number of open connections of a pool.' }
const waiting = {
  name: 'db.client.connection.pending_requests',
  unit: '{request}',
  description: 'Requests that wait for a connection of a pool.'
}
const duration = { name: 'concordat.transaction.duration', unit: 's', description: 'Duration of the transactions of requests, by outcome.' }

/** Returns what operators can read of the connection pools of a database. */
export function poolGauges(database: Postgres): Gauges {
  const pools = { requests: database, ...(database.background !== database && { background: database.background }) }
  return {
    metrics: [used, max, waiting],
    read: () =>
      Object.entries(pools).flatMap(([pool, { connections: load }]) => {
        if (load === undefined) return []
        const attributes = { 'db.client.connection.pool.name': pool }
        return [
          { metric: used, value: load.used, attributes: { ...attributes, 'db.client.connection.state': 'used' } },
          { metric: max, value: load.max, attributes },
          { metric: waiting, value: load.waiting, attributes }
        ]
      })
  }
}

/** Measures the transaction of a request from the start of its handler until it ends. */
export function observeUnit(unit: Unit, observer: Observer, route: string): void {
  const since = performance.now()
  const end = observer.begin({ name: 'transaction', attributes: { 'http.route': route } })
  unit.afterEnd(() => {
    const attributes = { outcome: unit.session.isRolledBack ? 'rolledBack' : 'committed' }
    observer.record(duration, (performance.now() - since) / 1000, attributes)
    end(attributes)
  })
}
