// Checks that each described option has a user: the examples, the template of create-concordat, or a block of code in a guide or a README sets a
// member of its name, or another package does that imports the one of the option; for the options of a test tool, also its tests. An option
// without a user is a constant. Those that operators change in an incident say when in their text: "Operators raise it while …".
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { blocksOf } from './markdown.ts'
import { describedIn } from './option-tables.ts'
import { reportProblems } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** Returns a line for each option that the packages below a root describe, and nothing uses. */
export function unusedOptions(root: string): string[] {
  const inServices = namesSetBelow(root)
  const sources = filesUnder(root, 'packages/*/{src,test}/**/*.ts').map((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    return { file, source, names: new Set(namesSetIn(source)), options: file.includes('/src/') ? describedIn(file, source) : [] }
  })
  const isPassed = (described: string, name: string) => {
    const [, owner] = described.split('/')
    return sources.some(
      ({ file, source, names }) =>
        names.has(name) &&
        !file.startsWith(`packages/${owner}/`) &&
        (file.includes('/src/') || described.includes('/testing/')) &&
        source.includes(`'@concordat/${owner}`)
    )
  }
  return sources.flatMap(({ file, options }) =>
    options
      .filter(({ name, comment }) => !inServices.has(name) && !comment.includes('. Operators ') && !isPassed(file, name))
      .map(({ name, line }) => `${file}:${line}: nothing sets the option ${name}. Make it a constant, or show in a guide who needs it.`)
  )
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
  reportProblems(unusedOptions(repository))
}
