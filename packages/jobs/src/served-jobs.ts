import type { FastifyRequest } from 'fastify'
import type { Job } from './job.ts'
import type { Place } from './job-routes.ts'
import { checkOf, type SchemaCheck } from './schema-check.ts'
import { queueOf } from './start-job.ts'

interface ServedJob {
  readonly job: Job<unknown>
  readonly checkInput: SchemaCheck
  readonly checkResult: SchemaCheck | undefined
  readonly places: Place[]
}

/** The jobs that are served or have a schedule, with the locations of their routes. */
export class ServedJobs {
  readonly #all = new Map<string, ServedJob>()

  get all(): readonly ServedJob[] {
    return [...this.#all.values()]
  }

  /** Returns the names of the queues of the jobs. */
  readonly queues = (): string[] => [...this.#all.values()].map(({ job }) => queueOf(job))

  /**
   * Adds a location at which the routes of a job are served. Its schemas can refer to the `shared` ones. Throws a `TypeError` if another job has the
   * same name, or a schema cannot be compiled.
   */
  add(job: Job<unknown>, place: Place, shared: readonly object[]): void {
    this.define(job, shared).places.push(place)
  }

  /** Does the same for a job without routes, and returns it. */
  define(job: Job<unknown>, shared: readonly object[]): ServedJob {
    const entry = this.#all.get(job.name) ?? { job, ...checksOf(job, shared), places: [] }
    if (entry.job !== job) throw new TypeError(`jobs: the job name "${job.name}" is used twice. Rename one of the jobs.`)
    this.#all.set(job.name, entry)
    return entry
  }

  /** Returns the served job with this name. Throws a `TypeError` if it is not served. */
  of({ name }: Pick<Job, 'name'>): ServedJob {
    const entry = this.#all.get(name)
    if (entry === undefined) throw notServed({ name })
    return entry
  }

  /** Returns the location of the job's routes in the API version of the request, or else the first location. */
  placeOf(job: Pick<Job, 'name'>, request: FastifyRequest): Place {
    const { places } = this.of(job)
    if (places.length === 0) throw notServed(job)
    const near = places.filter(({ prefix }) => request.routeOptions.url?.startsWith(`${prefix}/`))
    return near.toSorted((a, b) => b.prefix.length - a.prefix.length)[0] ?? (places[0] as Place)
  }
}

function notServed({ name }: Pick<Job, 'name'>) {
  return new TypeError(`jobs: the job "${name}" is not served. Call app.jobs.serve(job, path) before you start it.`)
}

function checksOf({ name, input, result }: Job<unknown>, shared: readonly object[]) {
  const placeOf = (part: string) => `jobs: ${part} of the job "${name}"`
  return {
    checkInput: checkOf(input, 'body', shared, placeOf('input')),
    checkResult: result && checkOf(result, 'result', shared, placeOf('result'))
  }
}
