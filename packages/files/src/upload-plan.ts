import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { type FormReader } from './form-fields.ts'
import { requireVisible } from './media-types.ts'
import { type FileSettings, fileRules } from './options.ts'
import type { UploadRules } from './upload.ts'

/** The fields of a form together, as a JSON body. */
export const maxFieldBytes = 524_288
export const maxFields = 1000
// The headers of a part, and the boundary.
const partBytes = 4096

/** What a route reads from a multipart body. */
export interface UploadPlan {
  readonly files: ReadonlyMap<string, FileSettings>
  /** Of the whole body. */
  readonly maxBytes: number
  /** Reads the schema when it is complete. */
  readonly form: () => FormReader
}

/** The part of a route that its plan is made of. */
export interface UploadRoute {
  readonly name: string
  readonly rules: UploadRules
  readonly body: JsonSchema
}

/** Checks `config.upload` of a route. Throws a `TypeError` that names what is wrong. */
export function planOf({ name, rules, body }: UploadRoute, form: () => FormReader): UploadPlan {
  const where = `${name}: config.upload`
  if (typeof rules !== 'object' || rules === null || Object.keys(rules).length === 0)
    throw new TypeError(`files: ${where} must have the rules of each file by name, for example { cover: { maxBytes: 5_000_000 } }.`)
  if ('content' in body)
    throw new TypeError(`files: ${name}: schema.body has a schema for each media type. Use the schema of the fields of the form.`)
  const files = new Map(Object.entries(rules).map(([file, given]) => [file, settingsOf(given, `${where}[${file}]`)]))
  const both = Object.keys(body['properties'] ?? {}).find((field) => files.has(field))
  if (both !== undefined) throw new TypeError(`files: ${name}: "${both}" is in schema.body and in config.upload. Rename one of them.`)
  const ofFiles = [...files.values()].map(({ maxBytes, maxFiles = 1 }) => (maxBytes + partBytes) * maxFiles)
  return { files, form, maxBytes: ofFiles.reduce((sum, bytes) => sum + bytes, maxFieldBytes * 2) }
}

function settingsOf(given: unknown, where: string): FileSettings {
  const settings = fileRules.read(given as never, where)
  if (settings.types !== undefined) {
    if (!Array.isArray(settings.types) || settings.types.length === 0)
      throw new TypeError(`files: ${where}.types must be a non-empty array of media types, such as "image/png". Omit it to accept any.`)
    requireVisible(settings.types, `files: ${where}`)
  }
  return settings
}
