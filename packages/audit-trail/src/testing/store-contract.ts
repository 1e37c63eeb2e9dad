import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { AuditRecord } from '../record.ts'
import type { AuditTrailStore } from '../store.ts'

const cases: ContractCases<AuditTrailStore> = {
  'stores every member of a record': async (store) => {
    const record = recordOf({
      subject: 'ada',
      client: 'shop',
      issuer: 'https://tokens.example.com',
      tenant: 'acme',
      version: 'v1',
      errorCode: 'NOT_ALLOWED'
    })
    await store.add([record])
    assert.deepEqual(await stored(store, record.requestId), [record])
  },
  'leaves out the members without a value': async (store) => {
    const record = recordOf({ permissions: [] })
    await store.add([record])
    assert.deepEqual(await stored(store, record.requestId), [record])
  },
  'ignores a record that it has already': async (store) => {
    const record = recordOf()
    const other = { ...recordOf(), requestId: record.requestId }
    await store.add([record])
    await store.add([{ ...record, outcome: 'failed', status: 503 }, other])
    await Promise.all([store.add([other]), store.add([other])])
    assert.deepEqual(sorted(await stored(store, record.requestId)), sorted([record, other]))
  },
  'changes only the number of repetitions of a record that it has, to a larger one': async (store) => {
    const { repetitions, ...record } = recordOf({ outcome: 'refused', status: 403, repetitions: 4 })
    await store.add([record])
    for (const count of [2, repetitions, 3]) await store.add([{ ...record, path: '/changed', status: 401, repetitions: count }])
    await store.add([record])
    assert.deepEqual(await stored(store, record.requestId), [{ ...record, repetitions }])
  },
  'stores many records of one time': async (store) => {
    const { requestId, occurredAt } = recordOf()
    const records = Array.from({ length: 500 }, () => ({ ...recordOf(), requestId, occurredAt }))
    await store.add(records)
    assert.deepEqual(sorted(await stored(store, requestId)), sorted(records))
  },
  'accepts any text': async (store) => {
    for (const text of ['', "'; DROP TABLE audit_records; --", '\\', '$1', '{a,"b"}', 'a\n\t\u0001b', 'ключ 😀', 'null', '%_']) {
      const record = recordOf({ subject: text, client: text, issuer: text, path: `/${text}`, permissions: [text, `${text}:read`] })
      await store.add([record])
      assert.deepEqual(await stored(store, record.requestId), [record])
    }
  }
}

/**
 * Registers tests of the requirements that every `AuditTrailStore` must meet outside of a transaction. `create` returns a store for each test; the store
 * may contain records of earlier tests.
 */
export function auditTrailStoreContract(test: RunTest, create: () => AuditTrailStore | Promise<AuditTrailStore>): void {
  runCases(test, cases, create)
}

function recordOf(members: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: randomUUID(),
    occurredAt: new Date().toISOString(),
    requestId: randomUUID(),
    permissions: ['orders:update', 'orders:read'],
    method: 'PATCH',
    route: '/v1/orders/:id',
    resource: '/orders/:id',
    path: '/v1/orders/7',
    outcome: 'committed',
    status: 200,
    ...members
  }
}

async function stored({ source }: AuditTrailStore, requestId: string): Promise<AuditRecord[]> {
  if ('records' in source) return source.records().filter((record) => record.requestId === requestId)
  const { rows } = await source.client.query(`SELECT * FROM ${source.table} WHERE request_id = $1`, [requestId])
  return rows.map((row) => {
    const members = Object.entries(row).flatMap(([column, value]) => (value === null ? [] : [[memberOf(column), timeText(value)]]))
    return Object.fromEntries(members) as AuditRecord
  })
}

function memberOf(column: string) {
  return column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

function timeText(value: unknown) {
  return value instanceof Date ? value.toISOString() : value
}

function sorted(records: readonly AuditRecord[]) {
  return records.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}
