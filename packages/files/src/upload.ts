import type { FileRules } from './options.ts'

/** A file in the store. It is plain JSON, which a service stores in a row of its own, and passes to jobs. */
export interface StoredFile {
  /** The id of the object in the store, a UUID. */
  readonly id: string
  /** The media type that the client named. It is that of the bytes on a route that lists `types`. */
  readonly type: string
  /** In bytes. */
  readonly size: number
  /** The SHA-256 of the bytes, in hexadecimal digits. */
  readonly digest: string
  /** The name that the client gave the file, without folders and invisible characters. */
  readonly name?: string | undefined
}

/** The rules of the files of an upload, by the name of their part: `config.upload`. */
export type UploadRules = Readonly<Record<string, FileRules>>

type FileOf<Rules> = Rules extends { readonly maxFiles: number }
  ? readonly StoredFile[]
  : Rules extends { readonly isOptional: true }
    ? StoredFile | undefined
    : StoredFile

/** The files of a request, by name, as the `config.upload` of its route declares them. */
export type Upload<Config> = Config extends { readonly upload: infer Rules }
  ? { readonly [Name in keyof Rules]: FileOf<Rules[Name]> }
  : Readonly<Record<string, StoredFile | readonly StoredFile[] | undefined>>
