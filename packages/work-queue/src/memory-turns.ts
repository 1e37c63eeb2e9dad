interface Group<Job> {
  readonly ready: Set<Job>
  running: number
  /** Of an ordered queue: what was begun and is not over, ready or not. Nothing else of its key is begun. */
  begun?: Job | undefined
}

/** Whose turn it is, found without a look at all jobs: the keys take turns, and the jobs of a key stand in line. */
export interface Turns<Job> {
  /** How many jobs run. */
  running(): number
  /** The job waits for its turn. */
  add(job: Job): void
  /** It neither waits nor runs any more. One that is over does not hold up its key either. */
  remove(job: Job, isOver: boolean): void
  /** The next one, which runs from now on; undefined when there is none that may. */
  next(perKey?: number): Job | undefined
}

export function makeTurns<Job extends { readonly key?: string | undefined }>(isOrdered: () => boolean): Turns<Job> {
  const groups = new Map<string | undefined, Group<Job>>()
  /** The keys that may have a job to begin. */
  const open = new Set<string | undefined>()
  const runs = new Set<Job>()

  function firstOf({ ready, begun }: Group<Job>) {
    if (begun !== undefined) return ready.has(begun) ? begun : undefined
    return ready.values().next().value
  }

  return {
    running: () => runs.size,
    add(job) {
      const group = groups.get(job.key) ?? { ready: new Set(), running: 0 }
      groups.set(job.key, group)
      group.ready.add(job)
      open.add(job.key)
    },
    remove(job, isOver) {
      const group = groups.get(job.key)
      if (group === undefined) return
      group.ready.delete(job)
      if (runs.delete(job)) group.running -= 1
      if (isOver && group.begun === job) group.begun = undefined
      open.add(job.key)
      if (group.ready.size === 0 && group.running === 0 && group.begun === undefined) groups.delete(job.key)
    },
    next(perKey = Infinity) {
      for (const key of open) {
        open.delete(key)
        const group = groups.get(key)
        const job = group && firstOf(group)
        if (group === undefined || job === undefined || (key !== undefined && group.running >= perKey)) continue
        group.ready.delete(job)
        group.running += 1
        runs.add(job)
        if (isOrdered()) group.begun = job
        // Behind the others.
        open.add(key)
        return job
      }
      return undefined
    }
  }
}
