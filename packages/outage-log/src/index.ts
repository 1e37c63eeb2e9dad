export { type OutageLogger, outageLog, type ReportFailure } from './outage-log.ts'
