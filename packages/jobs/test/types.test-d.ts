import { defineJob, type Job, type JobStore, memoryJobStore } from '@concordat/jobs'
import { expectTypeOf } from 'expect-type'
import type { FastifyInstance, FastifyReply } from 'fastify'

const job = defineJob<{ rows: number }, string>({ name: 'a', input: {}, handler: async ({ rows }) => `${rows}` })

expectTypeOf(job).toEqualTypeOf<Job<{ rows: number }, string>>()
expectTypeOf(memoryJobStore()).toEqualTypeOf<JobStore>()

export async function typed(app: FastifyInstance, reply: FastifyReply) {
  app.jobs.serve(job, '/as')
  app.get('/bs', { config: { operational: true, waivers: { P2: 'an old client' } } }, async () => ({}))
  // @ts-expect-error A waiver without a reason.
  app.get('/cs', { config: { waivers: { P2: true } } }, async () => ({}))
  // @ts-expect-error The input does not match the job.
  await reply.accepted(job, { rows: 'many' })
  return reply.accepted(job, { rows: 1 })
}
