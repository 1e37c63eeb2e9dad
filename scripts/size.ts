// Prints the size of a checkout, so that two can be compared: node --conditions=@concordat/source scripts/size.ts [folder]
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Node, parseSync, Visitor } from 'oxc-parser'
import { describedIn } from './option-tables.ts'
import { filesUnder, readMembers, repository } from './workspace.ts'

const root = resolve(process.argv[2] ?? repository)
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const linesOf = (files: readonly string[]) => files.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0)
const sources = filesUnder(root, 'packages/*/src/**/*.{ts,mts}')
const inService = sources.filter((file) => !/\/testing(\/|\.ts$)|^packages\/testing\//.test(file))
const [published = ''] = sources.filter((file) => file.endsWith('/published.ts'))

/** The functions of a file that have more than 80 lines of code, as the linter counts them. */
function longFunctions(file: string) {
  const source = read(file)
  let count = 0
  const visit = ({ start, end }: Node) => {
    const lines = source.slice(start, end).split('\n')
    if (lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line)).length > 80) count += 1
  }
  new Visitor({ FunctionDeclaration: visit, FunctionExpression: visit, ArrowFunctionExpression: visit }).visit(
    parseSync(file, source).program
  )
  return count
}

/** The members of the interface that lists the contracts between plugins. */
function contracts() {
  const [, body = ''] = /^export interface Contracts \{\n([\s\S]*?)^\}/m.exec(read(published)) ?? []
  return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].length
}

console.table({
  packages: readMembers(root).filter(({ folder }) => folder.startsWith('packages/')).length,
  'described options': sources.flatMap((file) => describedIn(file, read(file))).length,
  contracts: contracts(),
  'functions over 80 lines, without tests and testing': inService.reduce((sum, file) => sum + longFunctions(file), 0),
  'lines of src, without testing': linesOf(inService),
  'lines of tests': linesOf(filesUnder(root, '{packages,examples}/*/test/**/*.ts').filter((file) => !file.endsWith('/shop.ts'))),
  'lines of scripts with tests, without the template': linesOf(filesUnder(root, 'scripts/**/*.{ts,mjs}'))
})
