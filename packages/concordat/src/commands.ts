import type { parseArgs } from 'node:util'
import { Refusal } from 'create-concordat'
import { projectIn } from './add/project.ts'
import { removeResource } from './add/remove-resource.ts'
import { addResource } from './add/resource.ts'
import { addVersion } from './add/version.ts'
import { writeClient } from './client/command.ts'
import { diff, lint, type Report } from './documents.ts'
import { releaseDescription } from './released-description.ts'
import { isScheduleAction, schedules } from './schedules.ts'
import { tenants } from './tenants.ts'
import { texts } from './texts/texts.ts'
import { upgrade } from './upgrade/upgrade.ts'
import { versionClients } from './version-clients.ts'

/** The flags of all commands, for `parseArgs` of Node.js. */
export const flags = {
  with: { type: 'string', multiple: true },
  waive: { type: 'string', multiple: true },
  warn: { type: 'boolean' },
  days: { type: 'string', default: '30' },
  confirmed: { type: 'string', multiple: true },
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  check: { type: 'boolean' },
  out: { type: 'string' },
  int64: { type: 'string' },
  setting: { type: 'string', default: 'app.tenant' },
  column: { type: 'string', default: 'tenant' },
  schema: { type: 'string', multiple: true },
  shared: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' }
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values']

interface Command {
  /** The words that select it. */
  readonly name: string
  readonly usage: string
  readonly help: string
  /** How many words follow the name. */
  readonly minArguments?: number
  readonly maxArguments: number
  readonly perform: (args: readonly string[], values: Values) => string | Report | Promise<string | Report>
}

/** Every command. */
export const commands: readonly Command[] = [
  {
    name: 'add resource',
    usage: 'add resource <name> [<field>:<type>[:optional] …]',
    help: `Adds a resource to a project of npm create concordat, with a table, indexes, filters and tests, for example:
concordat add resource appointments startsAt:date-time patient:ref:patients note:string:optional
Without fields, it has a unique name.`,
    minArguments: 1,
    maxArguments: 200,
    perform: ([name = '', ...fields]) => addResource(projectIn(process.cwd()), name, fields)
  },
  {
    name: 'remove resource',
    usage: 'remove resource <name> [--force]',
    help: 'Removes what add resource added, and lists what is left to do. --force also deletes files that were changed since.',
    maxArguments: 1,
    perform: ([name = ''], { force = false }) => removeResource(projectIn(process.cwd()), name, force)
  },
  {
    name: 'add version',
    usage: 'add version <number>',
    help: 'Adds an API version with the routes of the newest one, with a test.',
    maxArguments: 1,
    perform: ([number = '']) => addVersion(projectIn(process.cwd()), number, new Date())
  },
  {
    name: 'upgrade',
    usage: 'upgrade [--dry-run]',
    help: `Sets the versions of the packages of Concordat to those of this release, renames what releases renamed, and lists what is left to do.
Run it from the new release: npx concordat@latest upgrade.`,
    maxArguments: 0,
    perform: (_, { 'dry-run': isDry = false }) => upgrade(process.cwd(), isDry)
  },
  {
    name: 'diff',
    usage: 'diff <released.json> <present.json>',
    help: 'Fails when the second document breaks clients of the first (rules V3, V4).',
    maxArguments: 2,
    perform: (files) => diff(files)
  },
  {
    name: 'release',
    usage: 'release <openapi.json or address> --out <folder>',
    help: `Stores the description of a version in the folder, as v<number>.json, with its digest in digests.json, which the service sends.
It fails, and stores nothing, when the description breaks clients of the one that is stored (rules V3, V4).`,
    maxArguments: 1,
    perform: ([source = ''], { out }) => releaseDescription(source, out)
  },
  {
    name: 'lint',
    usage: 'lint <openapi.json> [--with <module>] [--waive <rule>=<reason>] [--warn]',
    help: `Fails when the document breaks a rule. --with adds the lints that a module exports, for example @concordat/versioning.
It also fails when a waiver of the whole service has ended. --waive skips a rule. With --warn the command prints the findings and succeeds. --with and --waive can be repeated.`,
    maxArguments: 1,
    perform: ([file = ''], { with: modules = [], waive = [], warn = false }) => lint(file, modules, waive, warn)
  },
  {
    name: 'version-clients',
    usage: 'version-clients <number> [--days <days>] [--confirmed <client>]',
    help: `Fails when clients have used the version in the last 30 days, with their names, and when its use was not counted on all of these days.
--confirmed leaves out a client, and can be repeated.`,
    maxArguments: 1,
    async perform([number = ''], { days, confirmed = [] }) {
      if (!/^[1-9]\d*$/.test(number)) throw new Refusal(`"${number}" is not the number of a version, for example 1.`)
      if (!/^[1-9]\d{0,3}$/.test(days)) throw new Refusal(`--days ${days} is not a number of days, for example 30.`)
      const { text, isUsed, isCovered } = await versionClients(`v${number}`, Number(days), confirmed)
      return { text, isWrong: isUsed || !isCovered }
    }
  },
  {
    name: 'schedules',
    usage: 'schedules [pause|resume|run <name>]',
    help: 'Lists the schedules of the service in DATABASE_URL or DATA_DIR with their last and next run, or pauses, resumes or runs one.',
    minArguments: 0,
    maxArguments: 2,
    async perform([action, name]) {
      if (action === undefined) return schedules(undefined, '')
      if (isScheduleAction(action) && name !== undefined) return schedules(action, name)
      throw new Refusal(
        `"schedules ${action}${name === undefined ? '' : ` ${name}`}" is not a valid command. Run npx concordat --help for the commands.`
      )
    }
  },
  {
    name: 'tenants check',
    usage: 'tenants check [--shared <table>] [--column <column>] [--schema <schema>] [--setting <setting>] [--waive <name>=<reason>]',
    help: `Fails when the role of DATABASE_URL, or of DATA_DIR, can reach rows of another tenant, or an index does not serve under policies.
--shared names a table without tenants. --shared, --schema and --waive can be repeated. The column is "tenant", the schema "public", the setting "app.tenant".`,
    maxArguments: 0,
    perform: (_, { setting, column, schema = ['public'], shared = [], waive = [] }) => tenants({ setting, column, schema, shared, waive })
  },
  {
    name: 'texts',
    usage: 'texts [<language> …] [--check]',
    help: `Writes the texts of the service to locales/<language>.json, to be translated, and marks those whose English text has changed.
With --check the command writes nothing, and fails when a text is missing, changed, unknown or has other placeholders.`,
    minArguments: 0,
    maxArguments: 100,
    perform: (languages, { check = false }) => texts(languages, check)
  },
  {
    name: 'client',
    usage: 'client <openapi.json or address> --out <file> [--int64 text|bigint] [--check]',
    help: `Writes the types of a service for @concordat/client. With --check it fails when the file is out of date.
Integers of 64 bits are numbers, which lose digits above 2^53, or with --int64 texts or bigint.`,
    maxArguments: 1,
    perform: ([source = ''], { out, check, int64 }) => writeClient(source, { out, check, int64 })
  }
]
