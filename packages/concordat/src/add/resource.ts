import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from 'create-concordat'
import { edit, namesIn, type Project, read, withItem, write } from './project.ts'
import { type Resource, resourceOf } from './resource-files.ts'

const registration = /^( *)await (v\d+)\.register\(\w+, \{ database \}\)\n(?![\s\S]*^ *await v\d+\.register\(\w+, \{ database \}\)\n)/m
// The routes that the packages of a project add to a version.
const pathsOfPackages: readonly string[] = ['tokens', 'token-revocations', 'webhook-subscriptions']
const lastImport = /^import .* from '\.\/[\w-]+\/routes\.ts'\n(?![\s\S]*^import .* from '\.\/[\w-]+\/routes\.ts'\n)/m

/**
 * Adds a resource to a project, in the newest version of the API: a table, its statements, schemas, routes, errors and tests. The specifications are those
 * of its fields, by default `name:string:unique`. Returns what was added.
 */
export function addResource(project: Project, name: string, specifications: readonly string[]): string {
  const app = read(project, 'src/app.ts')
  const resource = resourceOf(project, name, specifications)
  const [, , version = 'v1'] = registration.exec(app) ?? []
  const migrations = namesIn(project, 'src/migrations')
  requireFree(project, migrations, app, resource)
  requireTargets(project, resource)
  const number = `${Math.max(0, ...migrations.map((file) => Number.parseInt(file) || 0)) + 1}`.padStart(4, '0')

  const { path } = resource
  const added = resource.files(version).set(`src/migrations/${number}-${path}.sql`, resource.migration)
  const edited = new Map([['src/app.ts', withResource(app, resource)]])
  if (project.chosen.has('auth'))
    edited.set(
      'src/access.ts',
      withItem('src/access.ts', read(project, 'src/access.ts'), /permissions = /, 'list of permissions', `'${path}:write'`)
    )
  write(project, added, edited)
  return `/${version}/${path} was added: ${[...added.keys()].join(', ')}. Run npm test.`
}

function requireFree(project: Project, migrations: readonly string[], app: string, { path, table }: Resource) {
  if (pathsOfPackages.includes(path) || app.includes(`'/${path}'`))
    throw new Refusal(`The path /${path} is in use. Choose another name for the resource.`)
  if (existsSync(join(project.folder, 'src', path))) throw new Refusal(`src/${path} already exists. Choose another name for the resource.`)
  const creation = new RegExp(`\\bCREATE\\b[^;(]*?\\s(?:public\\.)?"?${table}"?(?=[\\s(;])`, 'i')
  const file = migrations.find((name) => creation.test(read(project, `src/migrations/${name}`)))
  if (file !== undefined) throw new Refusal(`src/migrations/${file} has "${table}" already. Choose another name for the resource.`)
}

// The tests create what a reference refers to.
function requireTargets({ folder }: Project, { fields }: Resource) {
  const targets = fields.flatMap(({ target }) => target?.path ?? [])
  const missing = targets.find((path) => [`src/${path}/routes.ts`, `test/${path}.ts`].some((file) => !existsSync(join(folder, file))))
  if (missing !== undefined)
    throw new Refusal(`There is no resource "${missing}" to refer to. Run npx concordat add resource ${missing} first.`)
}

function withResource(app: string, { path, many, errors }: Resource) {
  const names = [many, ...(errors === undefined ? [] : [errors])]
  const taken = names.find((name) => new RegExp(`\\b${name}\\b`).test(app))
  if (taken !== undefined) throw new Refusal(`src/app.ts already has "${taken}". Choose another name for the resource.`)
  const routes = `import { ${many} } from './${path}/routes.ts'\n`
  const imports = errors === undefined ? routes : `import { ${errors} } from './${path}/errors.ts'\n${routes}`
  const imported = edit('src/app.ts', app, lastImport, 'import of routes', ([found]) => found + imports)
  const included = errors === undefined ? imported : withItem('src/app.ts', imported, /include: /, 'list errorCatalogue.include', errors)
  return edit(
    'src/app.ts',
    included,
    registration,
    'line await v1.register(…, { database })',
    ([found, indent, version]) => `${found}${indent}await ${version}.register(${many}, { database })\n`
  )
}
