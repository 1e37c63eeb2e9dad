import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { invalidParts, malformedMultipart, tooLarge, tooMany } from './errors.ts'
import { StagedFiles } from './staged-files.ts'
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
  const files = new StagedFiles(plan, store)
  const fault = firstFault()
  let fieldBytes = 0
  const parser = parserOf(contentType, plan)
  parser.on('error', (error) => fault.set(malformedMultipart(error)))
  parser.on('field', (name: string | undefined, text, _isNameCut, isCut) => {
    fieldBytes += text.length + String(name).length
    if (name === undefined) fault.set(malformedMultipart('a part without a name'))
    else if (isCut || fieldBytes > maxFieldBytes) fault.set(tooLarge(maxFieldBytes, `body.${name}`))
    else if (fields.get(name)?.push(text) === undefined) fields.set(name, [text])
  })
  parser.on('file', (name, stream, filename, _encoding, type) => {
    stream.on('error', (error) => fault.set(malformedMultipart(error)))
    files.receive({ name, stream, filename, type }, fault.set)
  })
  parser.on('fieldsLimit', () => fault.set(invalidParts([tooMany('', maxFields)])))

  const reading = feed(parser, body, plan.maxBytes, fault).catch((error: unknown) => fault.set(malformedMultipart(error)))
  await Promise.race([reading.then(() => files.allStaged()), fault.isSet])
  const missing = files.missing()
  if (missing.length > 0) fault.set(invalidParts(missing))
  if (fault.error === undefined) return { fields, files: files.byName }
  parser.destroy()
  // A client that is still sending would not read a response.
  await Promise.all([files.discard(), Promise.race([reading, delay(maxIgnoredMs, undefined, { ref: false })])])
  throw fault.error
}

interface FirstFault {
  readonly error: unknown
  readonly isSet: Promise<void>
  /** Later faults have no effect: they may follow from the first. */
  readonly set: (error: unknown) => void
}

function firstFault(): FirstFault {
  const { promise: isSet, resolve } = Promise.withResolvers<void>()
  let error: unknown
  return {
    get error() {
      return error
    },
    isSet,
    set(given) {
      error ??= given
      resolve()
    }
  }
}

/** Passes a body to its parser. After a fault it reads a little more, for a client that sends all before it reads. */
async function feed(parser: BusboyInstance, body: Readable, maxBytes: number, fault: FirstFault) {
  let total = 0
  let ignored = 0
  // The socket must stay open for the response.
  for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > maxBytes) fault.set(tooLarge(maxBytes))
    if (fault.error === undefined) {
      if (!parser.write(chunk)) await Promise.race([fault.isSet, new Promise((resolve) => parser.once('drain', resolve))])
    } else {
      ignored += chunk.length
      if (ignored > maxIgnoredBytes) return
    }
  }
  if (fault.error !== undefined) return
  const finished = once(parser, 'finish')
  parser.end()
  await Promise.race([fault.isSet, finished])
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
