import { createHash, randomUUID } from 'node:crypto'
import type { BusboyFileStream } from '@fastify/busboy'
import { invalidParts, otherContent, otherType, type PartFault, required, tooLarge, tooMany, unknownPart } from './errors.ts'
import { cleanFileName } from './file-name.ts'
import { isOfType } from './media-types.ts'
import type { FileStore } from './store.ts'
import type { StoredFile } from './upload.ts'
import type { UploadPlan } from './upload-plan.ts'

interface FilePart {
  readonly name: string
  readonly stream: BusboyFileStream
  readonly filename: string | undefined
  readonly type: string
}

/** The files of a body, which are staged while they arrive. */
export class StagedFiles {
  readonly byName: Map<string, StoredFile[]> = new Map()
  readonly #plan: UploadPlan
  readonly #store: FileStore
  readonly #ids: string[] = []
  readonly #streams: BusboyFileStream[] = []
  readonly #staging: Promise<void>[] = []

  constructor(plan: UploadPlan, store: FileStore) {
    this.#plan = plan
    this.#store = store
  }

  /** Stages the file of a part, or passes on the fault that prevents it. */
  receive(part: FilePart, fail: (error: unknown) => void): void {
    this.#streams.push(part.stream)
    this.#staging.push(this.#stage(part).catch(fail))
  }

  async #stage({ name, stream, filename, type }: FilePart) {
    const rules = this.#plan.files.get(name)
    if (rules === undefined) throw invalidParts([unknownPart(name)])
    const { maxFiles, maxBytes, types } = rules
    const files = this.byName.get(name) ?? []
    const field = maxFiles === undefined ? `body.${name}` : `body.${name}.${files.length}`
    if (files.length >= (maxFiles ?? 1)) throw invalidParts([tooMany(`/${name}`, maxFiles ?? 1)])
    if (types?.includes(type) === false) throw otherType(field, types)
    const id = randomUUID()
    this.#ids.push(id)
    // Before the bytes arrive, so that its place in the list is that of the part.
    this.byName.set(name, files)
    const place = files.push(undefined as never) - 1
    const digest = createHash('sha256')
    let size = 0
    await this.#store.stage(id, bounded())
    if (types !== undefined && !(await isOfType(type, this.#store.read(id)))) throw otherContent(field, type)
    const cleanName = cleanFileName(filename)
    files[place] = { id, type, size, digest: digest.digest('hex'), ...(cleanName !== undefined && { name: cleanName }) }

    async function* bounded() {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) throw tooLarge(maxBytes, field)
        digest.update(chunk)
        yield chunk
      }
    }
  }

  async allStaged(): Promise<void> {
    await Promise.all(this.#staging)
  }

  /** The required files that have not arrived. */
  missing(): PartFault[] {
    const names = [...this.#plan.files].filter(([name, { isOptional }]) => !isOptional && !this.byName.has(name))
    return names.map(([name]) => required(name))
  }

  /** Deletes what is staged, and ends what still arrives. */
  async discard(): Promise<void> {
    for (const stream of this.#streams) stream.destroy()
    await this.allStaged()
    await this.#store.discard(this.#ids)
  }
}
