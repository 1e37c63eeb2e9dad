import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { examples, Refusal, readTemplates, starter } from 'create-concordat'
import { edit, namesIn, type Project, read, write } from './project.ts'
import { camel, kebab, renamed, snake, wordsOf } from './words.ts'

const registration = /^( *)await (v\d+)\.register\(\w+, \{ database \}\)\n(?![\s\S]*^ *await v\d+\.register\(\w+, \{ database \}\)\n)/m
const isOfAuthors = /^(src|test)\/(migrations\/\d+-)?authors[/.]/
// The routes that the packages of a project add to a version.
const pathsOfPackages: readonly string[] = ['tokens', 'token-revocations', 'webhook-subscriptions']
const lastImport = /^import .* from '\.\/[\w-]+\/routes\.ts'\n(?![\s\S]*^import .* from '\.\/[\w-]+\/routes\.ts'\n)/m

/**
 * Adds a resource to a project, as a copy of the template's authors: a table, SQL, schemas, routes, errors and tests, in the newest version of the API.
 * Returns what was added.
 */
export function addResource(project: Project, name: string): string {
  const app = read(project, 'src/app.ts')
  const template = [...readTemplates(join(examples, starter), project.chosen)].filter(([path]) => isOfAuthors.test(path))
  const words = wordsOf(name, template.map(([, text]) => text).join('\n'))
  const [, , version = 'v1'] = registration.exec(app) ?? []
  const migrations = namesIn(project, 'src/migrations')
  requireFree(project, migrations, app, kebab(words.plural), snake(words.plural))
  const number = `${Math.max(0, ...migrations.map((file) => Number.parseInt(file) || 0)) + 1}`.padStart(4, '0')

  const added = new Map(
    template.map(([path, text]) => [
      renamed(path, words).replace(/\d{4}-/, `${number}-`),
      renamed(text, words).replaceAll('/v1/', `/${version}/`)
    ])
  )
  const [folder, routes, errors] = [kebab(words.plural), camel(words.plural), `${camel(words.singular)}Errors`]
  const edited = new Map([['src/app.ts', withResource(app, folder, routes, errors)]])
  if (project.chosen.has('auth')) edited.set('src/access.ts', withPermission(read(project, 'src/access.ts'), `${folder}:write`))
  write(project, added, edited)
  return `/${version}/${folder} was added: ${[...added.keys()].join(', ')}. Run npm test.`
}

function requireFree(project: Project, migrations: readonly string[], app: string, path: string, table: string) {
  if (pathsOfPackages.includes(path) || app.includes(`'/${path}'`))
    throw new Refusal(`The path /${path} is in use. Choose another name for the resource.`)
  if (existsSync(join(project.folder, 'src', path))) throw new Refusal(`src/${path} already exists. Choose another name for the resource.`)
  const creation = new RegExp(`\\bCREATE\\b[^;(]*?\\s(?:public\\.)?"?${table}"?(?=[\\s(;])`, 'i')
  const file = migrations.find((name) => creation.test(read(project, `src/migrations/${name}`)))
  if (file !== undefined) throw new Refusal(`src/migrations/${file} has "${table}" already. Choose another name for the resource.`)
}

function withResource(app: string, folder: string, routes: string, errors: string) {
  const taken = [routes, errors].find((name) => new RegExp(`\\b${name}\\b`).test(app))
  if (taken !== undefined) throw new Refusal(`src/app.ts already has "${taken}". Choose another name for the resource.`)
  const imports = `import { ${errors} } from './${folder}/errors.ts'\nimport { ${routes} } from './${folder}/routes.ts'\n`
  const imported = edit('src/app.ts', app, lastImport, 'import of routes', ([found]) => found + imports)
  const listed = edit(
    'src/app.ts',
    imported,
    /(include: \[[^\]]*?)(,?)(\s*)\]/,
    'list errorCatalogue.include',
    ([, list = '', , end = '']) => `${list},${end === '' ? ' ' : `${end}  `}${errors}${end}]`
  )
  return edit(
    'src/app.ts',
    listed,
    registration,
    'line await v1.register(…, { database })',
    ([found, indent, version]) => `${found}${indent}await ${version}.register(${routes}, { database })\n`
  )
}

function withPermission(access: string, permission: string) {
  return edit(
    'src/access.ts',
    access,
    /(permissions = \[[^\]]*?)(,?)(\s*)\]/,
    'list of permissions',
    ([, list = '', , end = '']) => `${list},${end === '' ? ' ' : `${end}  `}'${permission}'${end}]`
  )
}
