import auditTrail, { type AuditRecord, type AuditRecordSource, type AuditTrailStore, memoryAuditTrailStore } from '@concordat/audit-trail'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(auditTrail, { store: memoryAuditTrailStore() })
// @ts-expect-error the store is required
app.register(auditTrail, {})
// @ts-expect-error a store has more members
app.register(auditTrail, { store: { add: async () => {} } })

expectTypeOf(memoryAuditTrailStore()).toExtend<AuditTrailStore>()
expectTypeOf<AuditTrailStore['source']>().toEqualTypeOf<AuditRecordSource>()
expectTypeOf<AuditRecord['outcome']>().toEqualTypeOf<'committed' | 'refused' | 'failed'>()
