import type { WorkQueue } from './work-queue.ts'

/** The part of an observer that a queue uses: it returns the trace of the calling code, and continues a trace. */
interface Tracing {
  readonly traceparent: () => string | undefined
  readonly run: <Result>(
    span: { readonly name: string; readonly kind: 'consumer'; readonly parent: string | undefined },
    work: () => Promise<Result>
  ) => Promise<Result>
}

/** Returns a queue whose jobs continue the trace of the code that enqueued them; without an observer, the queue itself. */
export function observedQueue(queue: WorkQueue, observer: Tracing | undefined): WorkQueue {
  if (observer === undefined) return queue
  const { run, traceparent } = observer
  const { capabilities, clock } = queue
  return {
    capabilities,
    clock,
    define: (...input) => queue.define(...input),
    enqueue(name, items, transaction) {
      const trace = traceparent()
      return queue.enqueue(name, trace === undefined ? items : items.map((item) => ({ ...item, trace })), transaction)
    },
    work: (name, handler, options) =>
      queue.work(name, async (claim) => run({ name, kind: 'consumer', parent: claim.trace }, async () => handler(claim)), options),
    cancel: (...input) => queue.cancel(...input),
    redrive: (...input) => queue.redrive(...input),
    promote: (...input) => queue.promote(...input),
    kick: (name) => queue.kick(name),
    close: (graceSeconds) => queue.close(graceSeconds),
    backlog: queue.backlog?.bind(queue)
  }
}

const jobs = { name: 'concordat.queue.jobs', unit: '{job}', description: 'Jobs of a queue in all processes, at most 10,000 of a state.' }
const oldest = {
  name: 'concordat.queue.oldest.age',
  unit: 's',
  description: 'Age of the oldest job that waits in a queue, also for its next attempt; 0 for none.'
}

/** Returns what operators can read of some queues; nothing of a queue without `backlog`. */
export function queueGauges(queue: WorkQueue, names: () => readonly string[]) {
  return {
    metrics: [jobs, oldest],
    async read() {
      const backlogs = (await queue.backlog?.(names())) ?? []
      return backlogs.flatMap(({ name, oldestSeconds, ...counts }) => [
        ...Object.entries(counts).map(([state, value]) => ({ metric: jobs, value, attributes: { queue: name, state } })),
        { metric: oldest, value: oldestSeconds, attributes: { queue: name } }
      ])
    }
  }
}
