import { describeOptions, flag, instance, integer, type OptionsOf, required, type SettingsOf, value } from '@concordat/plugin-kit/options'
import type { FileStore } from './store.ts'

/** The description of {@link FilesOptions}. */
export const filesOptions = describeOptions('files', {
  /** Where the bytes of files are stored, for all processes together. */
  store: required(instance<FileStore>(['stage', 'keep', 'discard', 'read'], 'FileStore, for example postgresFileStore(database)'))
})

/** Options of `@concordat/files`. */
export interface FilesOptions extends OptionsOf<typeof filesOptions> {}

/** The description of {@link FileRules}. */
export const fileRules = describeOptions('files', {
  /** The size of the largest file that is accepted. */
  maxBytes: required(integer({ min: 1, max: 1_073_741_824 })),
  /** The media types that are accepted. A file has one of them as its Content-Type, and its bytes are of that type. By default any, and the bytes are not read. */
  types: value<readonly string[]>(),
  /** How many files of this name are accepted. The handler then gets a list. By default one, which is not in a list. */
  maxFiles: integer({ min: 1, max: 100 }),
  /** Whether the file can be missing. */
  isOptional: flag()
})

/** What a file of an upload must be. */
export interface FileRules extends OptionsOf<typeof fileRules> {}

/** The rules of a file, with defaults applied. */
export type FileSettings = SettingsOf<(typeof fileRules)['members']>

/** The description of {@link SentFileOptions}. */
export const sentFileOptions = describeOptions('files', {
  /** The name under which clients save the file. By default the name with which it was uploaded. */
  name: value<string>(),
  /** Whether browsers may show the file instead of saving it. HTML, SVG and XML are never shown. */
  inline: flag()
})

/** Options of `reply.file`. */
export interface SentFileOptions extends OptionsOf<typeof sentFileOptions> {}
