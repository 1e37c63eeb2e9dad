import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from 'create-concordat'
import { namesIn, type Project, read, withoutItem, write } from './project.ts'
import { type Resource, resourceOf } from './resource-files.ts'

/**
 * Removes what `addResource` added to a project, except the migration. Returns what was removed, and what remains to be done. Throws a `Refusal` when a
 * file was changed since, or is used by others, unless `isForced`.
 */
export function removeResource(project: Project, name: string, isForced: boolean): string {
  const { migration, specifications } = additionOf(project, name)
  const resource = resourceOf(project, name, specifications)
  const app = read(project, 'src/app.ts')
  const [, version = 'v1'] = new RegExp(`\\bawait (v\\d+)\\.register\\(${resource.many}, \\{ database \\}\\)`).exec(app) ?? []
  const files = resource.files(version)
  const present = [...files.keys()].filter((path) => existsSync(join(project.folder, path)))
  const changed = present.filter((path) => read(project, path) !== files.get(path))
  if (changed.length > 0 && !isForced)
    throw new Refusal(`${changed.join(', ')} differs from what this command adds. Add --force to delete it nevertheless.`)
  const users = usersOf(project, resource, present)
  if (users.length > 0 && !isForced)
    throw new Refusal(`${users.join(', ')} uses ${resource.path}. Change that first, or add --force and change it then.`)

  const edited = new Map([['src/app.ts', withoutResource(app, resource)]])
  if (project.chosen.has('auth'))
    edited.set('src/access.ts', withoutItem(read(project, 'src/access.ts'), /permissions = /, `'${resource.path}:write'`))
  write(project, new Map(), edited, present)
  const left = [
    `Databases still have the table. Add a migration with DROP TABLE ${resource.table}; or delete src/migrations/${migration} if no database has it yet.`,
    ...[...edited].filter(([, text]) => mentions(text, resource)).map(([path]) => `${path} still names ${resource.path}.`),
    ...users.map((path) => `${path} still uses ${resource.path}.`),
    ...namesIn(project, `src/${resource.path}`).map((file) => `src/${resource.path}/${file} is yours, and was not deleted.`)
  ]
  return `/${resource.path} was removed: ${present.join(', ')}. Left to do:\n${left.map((line) => `- ${line}`).join('\n')}`
}

/** Returns the migration that adds a resource, and the fields that its first line names. */
function additionOf(project: Project, name: string) {
  for (const migration of namesIn(project, 'src/migrations')) {
    const [, path, fields = ''] = /^-- npx concordat add resource (\S+)(.*)/.exec(read(project, `src/migrations/${migration}`)) ?? []
    if (path === name && existsSync(join(project.folder, 'src', path)))
      return { migration, specifications: fields.split(' ').filter((one) => one !== '') }
  }
  throw new Refusal(`No resource "${name}" that concordat added is here. Give the name of its folder in src, or delete its files manually.`)
}

/** Returns the other files that import one of the files. */
function usersOf({ folder }: Project, { path }: Resource, own: readonly string[]) {
  const imported = new RegExp(`from '[./\\w-]*/${path}(/[\\w-]+)?\\.ts'`)
  return globSync('{src,test}/**/*.ts', { cwd: folder })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file !== 'src/app.ts' && !own.includes(file) && imported.test(read({ folder, chosen: new Set() }, file)))
    .toSorted()
}

function withoutResource(app: string, { path, many, errors }: Resource) {
  const lines = new RegExp(
    `^import .* from '\\./${path}/(?:errors|routes)\\.ts'\n|^ *await v\\d+\\.register\\(${many}, \\{ database \\}\\)\n`,
    'gm'
  )
  const rest = app.replaceAll(lines, '')
  return errors === undefined ? rest : withoutItem(rest, /include: /, errors)
}

function mentions(text: string, { path, many, errors }: Resource) {
  return new RegExp(`\\b(?:${[path, many, ...(errors === undefined ? [] : [errors])].join('|')})\\b`).test(text)
}
