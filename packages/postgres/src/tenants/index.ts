export { checkTenants, type TenantCheckOptions, type TenantFinding, TenantIsolationError } from './check-tenants.ts'
