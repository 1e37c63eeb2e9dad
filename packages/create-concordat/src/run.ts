import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, relative, resolve } from 'node:path'
import { choicesOf, readArguments, usage } from './arguments.ts'
import type { Choices } from './choices.ts'
import { chosenFiles, exampleFiles, exampleNames, placeOf, Refusal, writeProject } from './project.ts'
import { ask } from './questions.ts'
import { printable, shellWord } from './terminal.ts'

/** Runs the command. Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    return await create(args)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error(printable(error.message))
    return 1
  }
}

async function create(args: readonly string[]) {
  const { folder, from, given, yes, install, help } = readArguments(args)
  if (help) {
    console.log(usage)
    return 0
  }
  if (from !== undefined && !exampleNames().includes(from))
    throw new Refusal(`There is no example "${from}". Use --from ${exampleNames().join(' or --from ')}.`)
  // A folder that cannot be used is refused before any question.
  if (folder !== undefined) placeOf(resolve(folder))
  const isAsked = process.stdin.isTTY && !yes && from === undefined
  const answers = isAsked ? await ask(folder, given) : { folder: folder ?? from ?? 'my-service', choices: given }
  const place = placeOf(resolve(answers.folder))
  const choices = choicesOf(answers.choices)
  writeProject(place, from === undefined ? chosenFiles(place, choices) : exampleFiles(place, from))
  const where = relative(process.cwd(), place.folder) || '.'
  console.log(`${place.name} was created in ${printable(where)}${from === undefined ? described(choices, answers.choices) : ''}.`)
  if (install && !(await installed(place.folder)))
    throw new Refusal(
      `The packages could not be installed. The project is complete: run npm install in ${where} when the registry can be reached.`
    )
  const next = [
    ...(where === '.' ? [] : [`cd ${shellWord(printable(where))}`]),
    ...(install ? [] : ['npm install']),
    'npm start',
    'npm test'
  ]
  console.log(`\n${next.map((command) => `  ${command}\n`).join('')}`)
  return 0
}

function described({ database, schema, with: chosen }: Choices, given: Partial<Choices>) {
  const added =
    chosen.includes('auth') && !(given.with ?? []).includes('auth') ? ' (jobs, webhooks and the audit trail belong to users)' : ''
  return `, with ${[database, schema, ...chosen].join(', ')}${added}`
}

// Its output is the progress. In a shell, because npm is a script on Windows.
async function installed(folder: string) {
  const agent = basename(process.env['npm_config_user_agent']?.split('/')[0] ?? 'npm')
  const manager = ['npm', 'pnpm', 'yarn', 'bun'].includes(agent) ? agent : 'npm'
  console.log(`${manager} installs the packages …`)
  const [code] = await once(spawn(`${manager} install`, { cwd: folder, stdio: 'inherit', shell: true }), 'close').catch(() => [1])
  return code === 0
}
