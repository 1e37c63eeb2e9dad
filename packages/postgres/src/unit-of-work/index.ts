export { default, postgresTransactions } from './plugin.ts'
export { currentTransaction } from './request-unit.ts'
export type { Transaction } from './transaction.ts'
