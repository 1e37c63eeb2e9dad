import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy'
import { invalidParts, malformedMultipart, otherContent, otherType, type PartFault, tooLarge } from './errors.ts'
import { cleanFileName } from './file-name.ts'
import { isOfType } from './media-types.ts'
import type { FileStore } from './store.ts'
import type { StoredFile } from './upload.ts'
import { maxFieldBytes, maxFields, type UploadPlan } from './upload-plan.ts'

/** The parts of a body, by name and in order. The files are staged. */
export interface Parts {
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly files: ReadonlyMap<string, readonly StoredFile[]>
}

// After a fault.
const maxIgnoredBytes = 1_048_576
const maxIgnoredMs = 1000

/**
 * Reads a multipart body part by part, and stages its files while they arrive. At the first fault it stops reading, discards what it has staged, and throws
 * an error that names the part.
 */
export async function readParts(body: Readable, contentType: string, plan: UploadPlan, store: FileStore): Promise<Parts> {
  const fields = new Map<string, string[]>()
  const files = new Map<string, StoredFile[]>()
  const staged: string[] = []
  const streams: BusboyFileStream[] = []
  const staging: Promise<void>[] = []
  const failure = Promise.withResolvers<void>()
  let fault: unknown
  let fieldBytes = 0
  const parser = parserOf(contentType, plan)
  parser.on('error', (error) => fail(malformedMultipart(error)))
  parser.on('field', (name: string | undefined, text, _isNameCut, isCut) => {
    fieldBytes += text.length + String(name).length
    if (name === undefined) fail(malformedMultipart('a part without a name'))
    else if (isCut || fieldBytes > maxFieldBytes) fail(tooLarge(maxFieldBytes, `body.${name}`))
    else add(fields, name, text)
  })
  parser.on('file', (name, stream, filename, _encoding, type) => {
    streams.push(stream)
    stream.on('error', (error) => fail(malformedMultipart(error)))
    staging.push(receive(name, stream, filename, type).catch(fail))
  })
  parser.on('fieldsLimit', () => fail(invalidParts([tooMany('', maxFields)])))

  const reading = readAll().catch((error: unknown) => fail(malformedMultipart(error)))
  await Promise.race([reading.then(() => Promise.all(staging)), failure.promise])
  const missing = [...plan.files].filter(([name, { isOptional }]) => !isOptional && !files.has(name)).map(([name]) => required(name))
  if (missing.length > 0) fail(invalidParts(missing))
  if (fault === undefined) return { fields, files }
  parser.destroy()
  for (const stream of streams) stream.destroy()
  // A client that is still sending would not read a response.
  await Promise.all([...staging, Promise.race([reading, delay(maxIgnoredMs, undefined, { ref: false })])])
  await store.discard(staged)
  throw fault

  function fail(error: unknown) {
    fault ??= error
    failure.resolve()
  }

  async function readAll() {
    let total = 0
    let ignored = 0
    // The socket must stay open for the response.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      total += chunk.length
      if (total > plan.maxBytes) fail(tooLarge(plan.maxBytes))
      if (fault === undefined) {
        if (!parser.write(chunk)) await Promise.race([failure.promise, new Promise((resolve) => parser.once('drain', resolve))])
      } else {
        ignored += chunk.length
        if (ignored > maxIgnoredBytes) return
      }
    }
    if (fault !== undefined) return
    const finished = once(parser, 'finish')
    parser.end()
    await Promise.race([failure.promise, finished])
  }

  async function receive(name: string, stream: BusboyFileStream, filename: string | undefined, type: string) {
    const rules = plan.files.get(name)
    if (rules === undefined) throw invalidParts([unknownPart(name)])
    const known = files.get(name)?.length ?? 0
    const field = rules.maxFiles === undefined ? `body.${name}` : `body.${name}.${known}`
    if (known >= (rules.maxFiles ?? 1)) throw invalidParts([tooMany(`/${name}`, rules.maxFiles ?? 1)])
    if (rules.types?.includes(type) === false) throw otherType(field, rules.types)
    const id = randomUUID()
    const digest = createHash('sha256')
    let size = 0
    // Before the bytes arrive, so that its place in the list is that of the part.
    const place = add(files, name, undefined as never)
    staged.push(id)
    await store.stage(id, bounded())
    if (rules.types !== undefined && !(await isOfType(type, store.read(id)))) throw otherContent(field, type)
    const cleanName = cleanFileName(filename)
    place({ id, type, size, digest: digest.digest('hex'), ...(cleanName !== undefined && { name: cleanName }) })

    async function* bounded() {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > (rules as { readonly maxBytes: number }).maxBytes)
          throw tooLarge((rules as { readonly maxBytes: number }).maxBytes, field)
        digest.update(chunk)
        yield chunk
      }
    }
  }
}

function parserOf(contentType: string, plan: UploadPlan): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { fieldSize: maxFieldBytes, fields: maxFields, headerPairs: 20, headerSize: 8192 },
      // A field can have a filename: clients send objects as unnamed blobs.
      isPartAFile: (name = '', _type, filename) => plan.files.has(name) || (filename !== undefined && !plan.form().declares(name))
    })
  } catch (error) {
    throw malformedMultipart(error)
  }
}

/** Adds a value to the list of a name, and returns a function that replaces it there. */
function add<Value>(lists: Map<string, Value[]>, name: string, value: Value): (value: Value) => void {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  const at = list.push(value) - 1
  return (other) => void (list[at] = other)
}

function required(name: string): PartFault {
  return { keyword: 'required', instancePath: '', params: { missingProperty: name }, message: `must have required property '${name}'` }
}

function unknownPart(name: string): PartFault {
  return {
    keyword: 'additionalProperties',
    instancePath: '',
    params: { additionalProperty: name },
    message: `must not have the part '${name}'`
  }
}

function tooMany(instancePath: string, limit: number): PartFault {
  return { keyword: 'maxItems', instancePath, params: { limit }, message: `must NOT have more than ${limit} items` }
}
