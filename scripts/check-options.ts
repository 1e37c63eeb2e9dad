// Checks that each described option has a user: the examples, the template of create-concordat, or a block of code in a guide or a README sets a
// member of its name, or another package does that imports the one of the option; for the options of a test tool, also its tests. An option
// without a user is a constant. Those that operators change in an incident say when in their text: "Operators raise it while …".
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { blocksOf } from './markdown.ts'
import { commentBefore } from './option-tables.ts'
import { filesUnder, repository } from './workspace.ts'

/** An option as a source describes it. */
interface SourceOption {
  readonly package: string
  /** The file and the line of its description. */
  readonly place: string
  readonly name: string
  readonly text: string
}

/** Returns the options that the packages below a root describe, and a line for each that has no user. */
export function checkOptions(root: string): { readonly options: readonly SourceOption[]; readonly problems: readonly string[] } {
  const sources = filesUnder(root, 'packages/*/{src,test}/**/*.ts').map((file) => ({
    file,
    source: readFileSync(join(root, file), 'utf8')
  }))
  const options = sources.flatMap(({ file, source }) =>
    source.includes('describeOptions(') && file.includes('/src/') ? optionsIn(file, source) : []
  )
  const inServices = namesSetBelow(root)
  const inPackages = sources.map(({ file, source }) => ({ file, source, names: new Set(namesSetIn(source)) }))
  const isPassed = ({ package: owner, place, name }: SourceOption) =>
    inPackages.some(
      ({ file, source, names }) =>
        names.has(name) &&
        !file.startsWith(`packages/${owner}/`) &&
        (file.includes('/src/') || place.includes('/testing/')) &&
        source.includes(`'@concordat/${owner}`)
    )
  const hasUser = (option: SourceOption) => inServices.has(option.name) || option.text.includes('. Operators ') || isPassed(option)
  const problems = options
    .filter((option) => !hasUser(option))
    .map(({ place, name }) => `${place}: nothing sets the option ${name}. Make it a constant, or show in a guide who needs it.`)
  return { options, problems }
}

function optionsIn(file: string, source: string): SourceOption[] {
  const { program, comments } = parseSync(file, source)
  const found: SourceOption[] = []
  new Visitor({
    CallExpression({ callee, arguments: [, members] }) {
      if (callee.type !== 'Identifier' || callee.name !== 'describeOptions' || members?.type !== 'ObjectExpression') return
      for (const property of members.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue
        const comment = commentBefore(property, comments, source)
        const line = source.slice(0, property.start).split('\n').length
        found.push({ package: file.split('/')[1] as string, place: `${file}:${line}`, name: property.key.name, text: comment?.value ?? '' })
      }
    }
  }).visit(program)
  return found
}

/** Returns the names of members that the users of options below a root set. */
function namesSetBelow(root: string): Set<string> {
  const code = filesUnder(root, '{examples,packages/create-concordat/{src,project}}/**/*.ts')
  const pages = filesUnder(root, '{README.md,docs/*.md,{packages,examples}/**/*.md}').filter((file) => basename(file) !== 'CHANGELOG.md')
  const blocks = pages.flatMap((file) => blocksOf(readFileSync(join(root, file), 'utf8')))
  const programs = [
    ...code.map((file) => readFileSync(join(root, file), 'utf8')),
    ...blocks.filter(({ language }) => language === 'ts').map(({ text }) => text)
  ]
  // A change of a program is a part of one, which the parser cannot read.
  const changes = blocks.filter(({ language }) => language === 'diff').flatMap(({ text }) => [...text.matchAll(/^\+.*$/gm)])
  return new Set([
    ...programs.flatMap(namesSetIn),
    ...changes.flatMap(([line]) => [...line.matchAll(/\b(\w+):/g)].map(([, name]) => name as string))
  ])
}

function namesSetIn(source: string) {
  const names: string[] = []
  new Visitor({
    ObjectExpression({ properties }) {
      for (const property of properties)
        if (property.type === 'Property' && property.key.type === 'Identifier') names.push(property.key.name)
    }
  }).visit(parseSync('program.ts', source).program)
  return names
}

if (import.meta.main) {
  const { options, problems } = checkOptions(repository)
  for (const line of problems) console.log(line)
  console.log(`${options.length} described options, ${problems.length} without a user.`)
  if (problems.length > 0) process.exitCode = 1
}
