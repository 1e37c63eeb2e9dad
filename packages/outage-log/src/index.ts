export { outageLog, type ReportFailure } from './outage-log.ts'
