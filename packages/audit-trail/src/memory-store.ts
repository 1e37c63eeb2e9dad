import type { AuditRecord } from './record.ts'
import type { AuditTrailStore } from './store.ts'

const maxRecords = 10_000

/** Creates a store in the memory of this process, for tests. It retains the last 10,000 records, in the order in which they were added. */
export function memoryAuditTrailStore(): AuditTrailStore & { readonly source: { readonly records: () => readonly AuditRecord[] } } {
  const stored = new Map<string, AuditRecord>()

  return {
    async add(records) {
      for (const record of records) {
        const { repetitions = 0, ...known } = stored.get(record.id) ?? record
        const most = Math.max(repetitions, record.repetitions ?? 0)
        stored.set(record.id, most > 0 ? { ...known, repetitions: most } : known)
      }
      for (const id of stored.keys()) {
        if (stored.size <= maxRecords) break
        stored.delete(id)
      }
    },
    source: { records: () => [...stored.values()] }
  }
}
