import { alternatives, type Choices, complete, defaults, features, valuesOf } from './choices.ts'
import { readFlags } from './flags.ts'
import { Refusal } from './project.ts'

/** What the command was called with. */
export interface Arguments {
  /** The folder, if it was given. */
  readonly folder: string | undefined
  /** The example to copy. */
  readonly from: string | undefined
  /** The choices that were made. */
  readonly given: Partial<Choices>
  /** Whether the defaults are used for the choices that were not made, without asking. */
  readonly yes: boolean
  readonly install: boolean
  readonly help: boolean
}

export const usage = `npm create concordat <folder> [-- <flags>]
  --database pglite|postgres    where the data is; PGlite is PostgreSQL inside the process (default: ${defaults.database})
  --schema typebox|typebox-1|zod  the library for schemas (default: ${defaults.schema})
  --with ${features.join(',')}
                                what the service has besides its resources (default: nothing)
  --tests node|tap              the test runner (default: ${defaults.tests})
  --from orders-service         copies an example instead
  --yes                         uses the defaults without asking
  --no-install                  does not run npm install`

/** Reads the arguments. Throws a {@link Refusal} for those that are unknown or do not fit. */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = readFlags(
    {
      args: [...args],
      allowPositionals: true,
      allowNegative: true,
      options: {
        database: { type: 'string' },
        schema: { type: 'string' },
        tests: { type: 'string' },
        with: { type: 'string' },
        from: { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
        install: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' }
      }
    },
    'npm create concordat --'
  )
  const { from, yes = false, install = true, help = false } = values
  if (positionals.length > 1)
    throw new Refusal(`Only one folder can be created, but ${positionals.length} are named. Remove "${positionals[1]}".`)
  const given: Partial<Choices> = {
    ...oneOf('database', values.database),
    ...oneOf('schema', values.schema),
    ...oneOf('tests', values.tests),
    ...(values.with !== undefined && { with: listed(values.with) })
  }
  const [other] = Object.keys(given)
  if (from !== undefined && other !== undefined)
    throw new Refusal(`--${other} has no effect with --from, which copies a whole example. Remove one of them.`)
  return { folder: positionals[0], from, given, yes, install, help }
}

/** Returns a choice, such as `{ schema: 'zod' }`. Throws a {@link Refusal} when it is not one of the alternatives. */
export function oneOf(name: keyof typeof alternatives, text: string | undefined): Partial<Choices> {
  if (text === undefined) return {}
  const known: readonly string[] = alternatives[name]
  if (!known.includes(text)) throw new Refusal(`--${name} is "${text}". It must be ${valuesOf(name)}.`)
  return { [name]: text }
}

/** Returns the features of a list with commas. Throws a {@link Refusal} for an unknown one. */
export function listed(text: string): Choices['with'] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  const unknown = names.find((name) => !features.some((feature) => feature === name))
  if (unknown !== undefined) throw new Refusal(`--with has "${unknown}". It must be a list of: ${features.join(', ')}.`)
  return features.filter((feature) => names.includes(feature))
}

/** Returns all choices: those that were made, and defaults. */
export function choicesOf(given: Partial<Choices>): Choices {
  return complete({ ...defaults, ...given })
}
