import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import type { FastifyInstance } from 'fastify'
import { goneMs, type Settings } from './options.ts'

/** Deletes the jobs whose URLs no longer respond with 410, every minute while the service runs, also when no client starts a job. */
export function sweepExpiredJobs(app: FastifyInstance, { store, now }: Settings): void {
  sweepRegularly(app, 'jobs: expired jobs were not deleted', (maximum) => store.sweep(now() - goneMs, maximum))
}
