import { randomUUID } from 'node:crypto'

/** Makes the id of a request: a random UUID, unique across processes and machines (rule H2). Reads nothing and never throws. */
export function newRequestId(): string {
  return randomUUID()
}
