export { outageLog } from './outage-log.ts'
