import { snakeCase } from '../sql/columns.ts'
import { type PrismaField, textOf } from './values.ts'
import type { Where } from './where.ts'

/** The part of a Prisma delegate, such as `prisma.order`, that {@link runPrisma} uses, also inside a transaction. */
export interface PrismaDelegate {
  readonly fields: object
  findMany(args: never): PromiseLike<readonly object[]>
  count(args: never): PromiseLike<unknown>
}

export type PrismaRecord = Readonly<Record<string, unknown>>

/** A delegate whose arguments are built at run time. */
export interface PrismaModel {
  readonly fields: Readonly<Record<string, { readonly typeName: string; readonly isEnum: boolean } | undefined>>
  findMany(args: object): PromiseLike<readonly PrismaRecord[]>
  count(args: object): PromiseLike<number>
}

/** The name of the Prisma field for a field of the resource, and the order of its enum values. */
export interface FieldMapping {
  readonly name?: string | undefined
  readonly choices?: readonly string[] | undefined
}

/** Returns the Prisma field for a field of the resource. Throws a `TypeError` if the model does not have it. */
export function fieldOf({ fields }: PrismaModel, member: string, { name, choices }: FieldMapping = {}): PrismaField {
  const names = name === undefined ? [...new Set([member, snakeCase(member)])] : [name]
  for (const name of names) {
    const found = Object.keys(fields).includes(name) ? fields[name] : undefined
    if (found) return { name, type: found.typeName, isEnum: found.isEnum, choices: found.typeName === 'Boolean' ? [false, true] : choices }
  }
  throw new TypeError(
    `pagination-query: the Prisma model has no field ${names.join(' or ')} for "${member}". Set fields["${member}"] to the name of its Prisma field.`
  )
}

const nullability = new WeakMap<object, Map<string, boolean>>()

/** Returns whether a field can be null. Prisma shows this only by rejecting a query, before it sends it. Cached for each field. */
export async function acceptsNull(model: PrismaModel, name: string): Promise<boolean> {
  const known = nullability.get(model) ?? new Map<string, boolean>()
  nullability.set(model, known)
  const accepts = known.get(name) ?? (await matchNull(model, { [name]: null }))
  known.set(name, accepts)
  return accepts
}

async function matchNull(model: PrismaModel, where: Where) {
  try {
    await model.findMany({ where, take: 0 })
    return true
  } catch (error) {
    if ((error as Error).name !== 'PrismaClientValidationError') throw error
    return false
  }
}

// Prisma truncates times to milliseconds, and its driver adapter reads the local time of a session as UTC. A cursor with such a time would lose or
// repeat rows. If a row at an end of the page has another time than the one read, and the same one when it is read again, Prisma misreads it.
/** Throws a `TypeError` if Prisma misreads a time in the sort order. */
export async function refuseMisreadTimes(
  model: PrismaModel,
  id: string,
  times: readonly string[],
  ends: readonly PrismaRecord[]
): Promise<void> {
  for (const time of times) {
    const others = ends.filter((end) => end[time] !== null).map((end) => ({ [id]: end[id], NOT: { [time]: end[time] } }))
    const suspects = others.length === 0 ? [] : await model.findMany({ where: { OR: others }, select: { [id]: true, [time]: true } })
    if (!suspects.some((suspect) => ends.some((end) => sameAt(id, end, suspect) && sameAt(time, end, suspect)))) continue
    throw new TypeError(
      `pagination-query: Prisma misreads ${time}, so it cannot be a sort key: the column is more precise than milliseconds, or the session is not in UTC. Limit the column to milliseconds, and set the time zone of the session to UTC.`
    )
  }
}

function sameAt(name: string, one: PrismaRecord, other: PrismaRecord) {
  return textOf('date-time', one[name]) === textOf('date-time', other[name])
}
