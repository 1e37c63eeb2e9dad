import type { Api, CallOptions, Described, Verb } from './api.ts'
import { type ApiError, type ConnectionCode, isCode } from './api-error.ts'
import { type BatchOperation, operationOf, resultsOf } from './batch.ts'
import { type Call, callOf, type Result } from './call.ts'
import { type Job, jobOf } from './job.ts'
import { type List, listOf } from './list.ts'
import type { Input } from './request.ts'
import { createSend } from './send.ts'
import { type ClientOptions, checkSettings } from './settings.ts'
import { createUpdate, type Loaded } from './update.ts'

type Arg<Map, Path> = Path extends keyof Map ? (Map[Path] extends { args: infer Args extends readonly unknown[] } ? Args : never) : never
type Data<Map, Path> = Path extends keyof Map ? (Map[Path] extends { data: infer One } ? One : never) : never
// With `fields`, a resource has these fields and those that it always has. They can also be those of its relations, such as `customer.name`.
type FieldOf<Map, Path> = Path extends keyof Map
  ? Map[Path] extends { always: string; args: infer Args extends readonly unknown[] }
    ? FieldIn<NonNullable<Args[0]>>
    : never
  : never
type FieldIn<One> = One extends { query?: infer Query | undefined }
  ? NonNullable<Query> extends { fields?: infer List | undefined }
    ? ItemOf<NonNullable<List>>
    : never
  : never
type ItemOf<List> = List extends readonly (infer One extends string)[] ? One : never
type Selection<Map, Path, Field> = Path extends keyof Map
  ? Map[Path] extends { args: infer Args extends readonly unknown[]; always: string }
    ? Args extends readonly [infer Needed]
      ? [input: Needed & { query?: { fields?: readonly Field[] | undefined } | undefined }]
      : [input?: NonNullable<Args[0]> & { query?: { fields?: readonly Field[] | undefined } | undefined }]
    : Arg<Map, Path>
  : never
type Selected<Map, Path, Field, One> = [Field] extends [never]
  ? One
  : Path extends keyof Map
    ? Map[Path] extends { always: infer Always }
      ? One extends readonly (infer Inner)[]
        ? Pick<Inner, (Field | Always) & keyof Inner>[]
        : Pick<One, (Field | Always) & keyof One>
      : One
    : One
type SelectedReply<Map, Path, Field> = Path extends keyof Map
  ? Map[Path] extends { data: infer One; code: infer Known extends string }
    ? Call<Selected<Map, Path, Field, One>, Known>
    : never
  : never
type Item<Map, Path> = Data<Map, Path> extends readonly (infer One)[] ? One : never
type Code<Map, Path> = Path extends keyof Map ? (Map[Path] extends { code: infer One extends string } ? One : never) : never
type Body<Map, Path> = Arg<Map, Path> extends readonly [infer One] ? (One extends { body: infer Changes } ? Changes : never) : never
type JobData<Map, Path> = Path extends keyof Map ? (Map[Path] extends { result: infer One } ? One : unknown) : never
type Reply<Map, Path> = Path extends keyof Map
  ? Map[Path] extends { data: infer One; code: infer Known extends string }
    ? Call<One, Known>
    : never
  : never
type Operation<Map, Path> = Path extends keyof Map
  ? Map[Path] extends { data: infer One; code: infer Known extends string }
    ? BatchOperation<One, Known>
    : never
  : never

/** The codes of all operations of a description. */
export type CodeOf<All extends Described> = { [V in Verb]: Code<All[V], keyof All[V]> }[Verb] | ConnectionCode

/** Prepares the operations of a batch. */
export interface BatchBuilder<All extends Described> {
  get<Path extends All['paths']['get']>(path: Path, ...args: Arg<All['get'], Path>): Operation<All['get'], Path>
  post<Path extends All['paths']['post']>(path: Path, ...args: Arg<All['post'], Path>): Operation<All['post'], Path>
  put<Path extends All['paths']['put']>(path: Path, ...args: Arg<All['put'], Path>): Operation<All['put'], Path>
  patch<Path extends All['paths']['patch']>(path: Path, ...args: Arg<All['patch'], Path>): Operation<All['patch'], Path>
  delete<Path extends All['paths']['delete']>(path: Path, ...args: Arg<All['delete'], Path>): Operation<All['delete'], Path>
}

/** The results of the operations of a batch, in their order. */
export type BatchResults<Operations extends readonly BatchOperation<unknown, string>[]> = {
  [Index in keyof Operations]: Operations[Index] extends BatchOperation<infer One, infer Known> ? Result<One, Known> : never
}

/** Options of a batch. */
export interface BatchOptions extends CallOptions {
  /** All operations take effect, or none. */
  readonly atomic?: boolean | undefined
  readonly idempotencyKey?: string | undefined
}

/** A client of one service. */
export interface Client<All extends Described> {
  /** Reads a resource. With `fields` in the query, its type has these fields. */
  get<Path extends All['paths']['get'], const Field extends FieldOf<All['get'], Path> = never>(
    path: Path,
    ...args: Selection<All['get'], Path, Field>
  ): SelectedReply<All['get'], Path, Field>
  post<Path extends All['paths']['post']>(path: Path, ...args: Arg<All['post'], Path>): Reply<All['post'], Path>
  put<Path extends All['paths']['put']>(path: Path, ...args: Arg<All['put'], Path>): Reply<All['put'], Path>
  patch<Path extends All['paths']['patch']>(path: Path, ...args: Arg<All['patch'], Path>): Reply<All['patch'], Path>
  delete<Path extends All['paths']['delete']>(path: Path, ...args: Arg<All['delete'], Path>): Reply<All['delete'], Path>
  /** All items of a collection. With `fields` in the query, their type has these fields. */
  list<Path extends All['paths']['list'], const Field extends FieldOf<All['get'], Path> = never>(
    path: Path,
    ...args: Selection<All['get'], Path, Field>
  ): List<Selected<All['get'], Path, Field, Item<All['get'], Path>>>
  /**
   * Reads a resource, and sends the changes that the function returns with If-Match. Where another client was faster, it begins again within the time
   * limit. With `from`, it does not read, and a conflict rejects, so that the user can decide.
   */
  update<Path extends All['paths']['update']>(
    path: Path,
    input: Omit<NonNullable<Arg<All['patch'], Path>[0]>, 'body' | 'ifMatch'> & { from?: Loaded<Data<All['get'], Path>> | undefined },
    change: (current: Data<All['get'], Path>) => Body<All['patch'], Path> | Promise<Body<All['patch'], Path>>
  ): Reply<All['patch'], Path>
  /** Starts a job. */
  job<Path extends All['paths']['job']>(path: Path, ...args: Arg<All['post'], Path>): Promise<Job<JobData<All['post'], Path>>>
  /** Sends many operations in one request. */
  batch<const Operations extends readonly BatchOperation<unknown, string>[]>(
    path: All['paths']['batch'],
    build: (builder: BatchBuilder<All>) => Operations,
    options?: BatchOptions
  ): Promise<BatchResults<Operations>>
  /** Returns whether an unknown error is an {@link ApiError} with one of these codes of the service. */
  isCode<Known extends CodeOf<All>>(error: unknown, ...codes: readonly Known[]): error is ApiError<Known>
}

const verbs: readonly Verb[] = ['get', 'post', 'put', 'patch', 'delete']
const byVerb = (make: (method: string) => unknown) => Object.fromEntries(verbs.map((verb) => [verb, make(verb.toUpperCase())]))

/** Creates a client of the service that a file of `npx concordat client` describes. Throws a `TypeError` for invalid options. */
export function createClient<All extends Described>(api: Api<All>, options: ClientOptions): Client<All> {
  checkSettings(options)
  const { baseUrl, session } = options
  const send = createSend(api, options)
  const update = createUpdate(send, options)
  session?.connect(send)
  const builder = byVerb(
    (method) =>
      (path: string, input: Input = {}) =>
        operationOf(api, method, path, input)
  ) as unknown as BatchBuilder<All>

  const client = {
    ...byVerb(
      (method) =>
        (path: string, input: Input = {}) =>
          callOf((isRaw) => send({ method, path, input, isRaw }))
    ),
    list: (path: string, input: Input = {}) => listOf(send, baseUrl, path, input),
    update: (path: string, input: Input, change: (current: never) => unknown) => callOf(() => update(path, input, change)),
    job: async (path: string, input: Input = {}) => jobOf(send, baseUrl, path, await send({ method: 'POST', path, input }), input),
    async batch(path: string, build: (given: BatchBuilder<All>) => readonly BatchOperation<unknown, string>[], given: BatchOptions = {}) {
      const { atomic, ...input } = given
      const operations = build(builder)
      const body = { operations: operations.map((operation, index) => ({ id: String(index), ...operation })), atomic }
      return resultsOf(api, operations, await send({ method: 'POST', path, input: { ...(input as Input), body } }))
    },
    isCode
  }
  return client as unknown as Client<All>
}
