import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyReply } from 'fastify'
import type { FormReader } from './form-fields.ts'
import type { Parts } from './read-parts.ts'
import type { FileStore } from './store.ts'
import type { StoredFile } from './upload.ts'
import type { UploadPlan } from './upload-plan.ts'

/** The parts of a request, whose files become permanent with a response of success, and otherwise are deleted. */
export class Stage {
  /** The files by name: one, or a list where the rules allow several. */
  readonly upload: Readonly<Record<string, StoredFile | readonly StoredFile[] | undefined>>
  readonly #parts: Parts
  readonly #store: FileStore
  #state: 'staged' | 'handled' | 'inTransaction' | 'over' = 'staged'

  constructor(parts: Parts, plan: UploadPlan, store: FileStore) {
    this.#parts = parts
    this.#store = store
    this.upload = Object.fromEntries(
      Array.from(plan.files, ([name, { maxFiles }]) => {
        const files = parts.files.get(name) ?? []
        return [name, maxFiles === undefined ? files[0] : files]
      })
    )
  }

  /** What the parts of two requests have in common if both send the same: the boundary, the type of a text and the ids differ. */
  get compared(): object {
    const files = Array.from(this.#parts.files, ([name, list]) => [name, list.map(({ id: _id, ...file }) => file)])
    return { fields: Object.fromEntries(this.#parts.fields), files: Object.fromEntries(files) }
  }

  /** Returns the fields as the schema of the body expects them. */
  async readFields(form: FormReader): Promise<object> {
    const values = Array.from(this.#parts.fields, async ([name, texts]) => [name, await form.valueOf(name, texts)] as const)
    return Object.fromEntries(await Promise.all(values))
  }

  /** The handler begins. It can begin again in the same transaction. */
  enterHandler(transaction: RequestTransaction | undefined, reply: FastifyReply): void {
    if (this.#state !== 'staged') return
    this.#state = transaction === undefined ? 'handled' : 'inTransaction'
    transaction?.beforeCommit(async () => {
      if (reply.statusCode < 400) await this.#store.keep(this.#ids, transaction)
    })
  }

  /** The response is ready. In a transaction, the files become permanent with it; a failure of its COMMIT is another response. */
  async conclude(reply: FastifyReply): Promise<void> {
    if (this.#state === 'over') return
    // The response to a request whose handler did not run is that of an earlier request. A store in the database of a transaction that is still open may
    // have to wait for its end, which comes later.
    if (reply.statusCode >= 400 || this.#state === 'staged') {
      this.drop().catch((err: unknown) => reply.log.warn({ err }, 'files: staged objects were not deleted, and will be a day later'))
      return
    }
    if (this.#state === 'inTransaction') return
    this.#state = 'over'
    await this.#store.keep(this.#ids)
  }

  async drop(): Promise<void> {
    this.#state = 'over'
    await this.#store.discard(this.#ids)
  }

  get #ids() {
    return [...this.#parts.files.values()].flat().map(({ id }) => id)
  }
}
