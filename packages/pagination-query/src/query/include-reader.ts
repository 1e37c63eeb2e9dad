import type { FastifyRequest } from 'fastify'
import { maxListItems } from '../declaration/parameter-objects.ts'
import type { QueryProblem } from '../errors.ts'
import { type Included, type RelatedRows, type Relation, type Relations, type RequestedRelations, splitRelated } from '../list/related.ts'

/** Reads the parameter `include`. */
export function readInclude(text: string, relations: Relations, problems: QueryProblem[]): RequestedRelations {
  const names = text.split(',')
  if (names.length > maxListItems) problems.push({ field: 'include', key: 'tooManyItems', params: { max: maxListItems } })
  else if (!names.every((name) => relations.has(name)))
    problems.push({ field: 'include', key: 'unknownRelation', params: { allowed: [...relations.keys()].join(', ') } })
  else if (new Set(names).size < names.length) problems.push({ field: 'include', key: 'repeatedRelation' })
  else return new Map(names.map((name) => [name, undefined]))
  return new Map()
}

/** Splits the names in `fields` into those of the resource and those of its included relations, such as `customer.name`. */
export function splitFields(names: readonly string[], relations: Relations, requested: RequestedRelations, problems: QueryProblem[]) {
  const own: string[] = []
  const chosen = new Map(requested)
  for (const name of names) {
    const [relation = '', field = ''] = splitRelated(name, relations) ?? []
    const target = relations.get(relation)?.target
    if (target === undefined) own.push(name)
    else if (!requested.has(relation)) problems.push({ field: 'fields', key: 'notIncluded', params: { relation } })
    else if (target.fields.has(field)) chosen.set(relation, [...(chosen.get(relation) ?? []), field])
    else own.push(name)
  }
  return { own, chosen: chosen as RequestedRelations }
}

/** Returns the requested relations with the fields and the rows that the client of a request may see. */
export function includedFor(request: FastifyRequest, relations: Relations, requested: RequestedRelations): readonly Included[] {
  return [...requested].map(([name, chosen]) => {
    const relation = relations.get(name) as Relation
    const { target } = relation
    const mayRead = (field: string) => field === target.id || target.readable?.(request, field) !== false
    const fields = [...target.fields.keys()].filter((field) => mayRead(field) && (field === target.id || chosen?.includes(field) !== false))
    return { name, relation, fields, source: sourceFor(request, relation) }
  })
}

/** Returns the relations by whose fields a query filters, with the rows that the client of a request may see. */
export function relatedFor(request: FastifyRequest, relations: Relations, names: ReadonlySet<string>): ReadonlyMap<string, RelatedRows> {
  return new Map(
    [...names].map((name) => {
      const relation = relations.get(name) as Relation
      return [name, { relation, source: sourceFor(request, relation) }]
    })
  )
}

function sourceFor(request: FastifyRequest, { source }: Relation): object {
  return source?.(request) ?? {}
}

/** Returns the fields of a resource with those that its requested relations need as keys. */
export function withKeys(fields: readonly string[], id: string, relations: Relations, requested: RequestedRelations): readonly string[] {
  const keys = [...requested.keys()].map((name) => {
    const { key, many } = relations.get(name) as Relation
    return many ? id : key
  })
  return keys.every((key) => fields.includes(key)) ? fields : [...new Set([...fields, ...keys])]
}

/** Returns the permissions that a request needs for its relations. */
export function permissionsOf(relations: Relations, requested: RequestedRelations): readonly string[] {
  return [...new Set([...requested.keys()].map((name) => (relations.get(name) as Relation).permission))].filter((one) => one !== 'public')
}
