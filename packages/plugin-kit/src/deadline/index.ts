export { waitAtMost, withDeadline } from './deadline.ts'
