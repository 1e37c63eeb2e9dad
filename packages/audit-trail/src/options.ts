import { describeOptions, instance, type OptionsOf, required } from '@concordat/plugin-kit/options'
import type { AuditTrailStore } from './store.ts'

/** The description of {@link AuditTrailOptions}. */
export const auditTrailOptions = describeOptions('audit-trail', {
  /** Where the records are stored, for all processes together. */
  store: required(instance<AuditTrailStore>(['add'], 'AuditTrailStore, for example postgresAuditTrailStore(database)'))
})

/** Options of `@concordat/audit-trail`. */
export interface AuditTrailOptions extends OptionsOf<typeof auditTrailOptions> {}
