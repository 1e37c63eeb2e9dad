import { type Replacements, requireNames, requirePluginNames, type Table } from './option-names.ts'

/** What an option accepts, and the setting that follows from it. Made by `integer`, `callback` and the other kinds. */
export interface Option<Given, Setting> {
  /** Returns the setting of a value, or of `undefined`. Throws a `TypeError` of one line that names the option at `path`. */
  readonly read: (plugin: string, path: string, value: unknown) => Setting
  /** Does the same, but `undefined` is a value that the option does not accept. */
  readonly check: (plugin: string, path: string, value: unknown) => Setting
  /** What is known of the names inside a value. */
  readonly names: true | Table
  readonly inMilliseconds?: true | undefined
  readonly isRequired?: true | undefined
  /** For the pages: the value without an option, and the limits. */
  readonly page: OptionPage
  /** Only a type. */
  readonly given?: Given | undefined
}

/** What the pages show of an option besides its text. */
export interface OptionPage {
  readonly default?: unknown
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly choices?: readonly unknown[] | undefined
}

/** Options by name. */
export type OptionMembers = { readonly [name: string]: Option<unknown, unknown> }

type RequiredNames<Members> = { [Name in keyof Members]: Members[Name] extends { readonly isRequired: true } ? Name : never }[keyof Members]
type Given<Member> = Member extends Option<infer Value, unknown> ? Value : never
type SettingName<Name, Member> = Member extends { readonly inMilliseconds: true }
  ? Name extends `${infer Base}Seconds`
    ? `${Base}Ms`
    : Name
  : Name

/** The object that a user passes, by the description of its members. Names, types and JSDoc are those of the members. */
// Without an intersection where nothing is required, so that TypeScript refuses a value that has none of the options.
export type GivenOptions<Members> = [RequiredNames<Members>] extends [never]
  ? { readonly [Name in keyof Members]?: Given<Members[Name]> | undefined }
  : { readonly [Name in keyof Pick<Members, RequiredNames<Members>>]: Given<Members[Name]> } & {
      readonly [Name in keyof Omit<Members, RequiredNames<Members>>]?: Given<Members[Name]> | undefined
    }

/** What a package gets for the options: validated, with defaults applied. A duration is in milliseconds, and its name ends in `Ms`. */
export type SettingsOf<Members> = {
  readonly [Name in keyof Members as SettingName<Name, Members[Name]>]: Members[Name] extends Option<unknown, infer Setting>
    ? Setting
    : never
}

/** The description of the options of a plugin or a function, from which its checks, defaults, types and pages follow. */
export interface DescribedOptions<Members> {
  readonly members: Members
  /**
   * Returns the settings. Throws a `TypeError` of one line for an unknown name or an invalid value. `path` is the object as the user writes it:
   * `POST /orders: config.idempotency`.
   *
   * @default path 'options'
   */
  readonly read: (options: GivenOptions<Members>, path?: string) => SettingsOf<Members>
  /** Does the same for the options of a Fastify plugin, which also have those of `register`: `prefix`, `logLevel` and `logSerializers`. */
  readonly readPlugin: (options: GivenOptions<Members>) => SettingsOf<Members>
}

/** The options that a description accepts: `interface JobsOptions extends OptionsOf<typeof jobsOptions> {}`. */
export type OptionsOf<Described extends { readonly members: OptionMembers }> = GivenOptions<Described['members']>

// An option that many packages had.
const replacedEverywhere = {
  now: 'The time is that of Date: in tests, replace Date with testClock of @concordat/testing, or with mock.timers of node:test.'
}

/**
 * Describes options. `plugin` is the beginning of each message. The JSDoc of a member is its text in editors and in the README. `replacements` are
 * what to do in place of options that no longer exist, by name: they end the message about the unknown name.
 *
 * @example
 * const jobsOptions = describeOptions('jobs', {
 *   \/** How often a job is attempted. *\/
 *   maxAttempts: integer({ default: 5, min: 1, max: 100 })
 * })
 */
export function describeOptions<const Members extends OptionMembers>(
  plugin: string,
  members: Members,
  replacements: Replacements = {}
): DescribedOptions<Members> {
  const replaced = { ...replacedEverywhere, ...replacements }
  return {
    members,
    read(options, path = 'options') {
      requireNames(plugin, path, options, namesOf(members), replaced)
      return readMembers(plugin, path, members, options)
    },
    readPlugin(options) {
      requirePluginNames(plugin, options, namesOf(members), replaced)
      return readMembers(plugin, 'options', members, options)
    }
  }
}

/** Returns the names of options, and of the members inside them. */
export function namesOf(members: OptionMembers): Table {
  return Object.fromEntries(Object.entries(members).map(([name, { names }]) => [name, names]))
}

/** Reads the members of an object whose names have been checked. */
export function readMembers<Members extends OptionMembers>(
  plugin: string,
  path: string,
  members: Members,
  options: object
): SettingsOf<Members> {
  const given = options as Readonly<Record<string, unknown>>
  const settings = Object.entries(members).map(([name, option]) => {
    const setting = option.read(plugin, `${path}.${name}`, given[name])
    return [option.inMilliseconds ? name.replace(/Seconds$/, 'Ms') : name, setting]
  })
  return Object.fromEntries(settings) as SettingsOf<Members>
}
