import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import type { FastifyInstance } from 'fastify'
import type { FileStore } from './store.ts'

// Longer than any request, and than a process that keeps what it staged waits for its database.
const ageMs = 86_400_000

/** Deletes every hour what was staged a day ago by requests that have no end, because their process was killed. */
export function sweepHourly(app: FastifyInstance, store: FileStore, now: () => number): void {
  sweepRegularly(app, (maximum) => store.sweep(now() - ageMs, maximum), {
    failure: 'files: staged objects of requests without an end were not deleted',
    everySeconds: 3600,
    maxRows: 100
  })
}
