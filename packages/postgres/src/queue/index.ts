export { postgresWorkQueue } from './work-queue.ts'
