import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import type { FastifyInstance } from 'fastify'
import type { FileStore } from './store.ts'

// Longer than any request, and than a process that keeps what it staged waits for its database.
const ageMs = 86_400_000

// A minute, so that the deletion of large objects leaves the store to requests.
const maxObjects = 100

/** Deletes each minute what was staged a day ago by requests that have no end, because their process was killed. */
export function sweepStaged(app: FastifyInstance, store: FileStore): void {
  sweepRegularly(app, 'files: staged objects of requests without an end were not deleted', () =>
    store.sweep(Date.now() - ageMs, maxObjects)
  )
}
