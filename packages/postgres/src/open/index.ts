export { openDatabase } from './open-database.ts'
export type { OpenDatabase } from './opened.ts'
