export { type Deadline, waitAtMost, withDeadline } from './deadline.ts'
