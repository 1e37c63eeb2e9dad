import { snakeCase } from '../sql/columns.ts'
import { type PrismaField, textOf } from './values.ts'
import type { Where } from './where.ts'

/** What is used of `prisma.order` and its like, that of a transaction included. */
export interface PrismaDelegate {
  readonly fields: object
  findMany(args: never): PromiseLike<readonly object[]>
  count(args: never): PromiseLike<unknown>
}

export type PrismaRecord = Readonly<Record<string, unknown>>

/** A delegate with arguments that are made at run time. */
export interface PrismaModel {
  readonly fields: Readonly<Record<string, { readonly typeName: string; readonly isEnum: boolean } | undefined>>
  findMany(args: object): PromiseLike<readonly PrismaRecord[]>
  count(args: object): PromiseLike<number>
}

/** Where a member lies in the model, when it is not told by its name. */
export interface FieldMapping {
  readonly name?: string | undefined
  readonly choices?: readonly string[] | undefined
}

/** Finds the field of a member. Throws a `TypeError` when the model has none. */
export function fieldOf({ fields }: PrismaModel, member: string, { name, choices }: FieldMapping = {}): PrismaField {
  const names = name === undefined ? [...new Set([member, snakeCase(member)])] : [name]
  for (const name of names) {
    const found = Object.keys(fields).includes(name) ? fields[name] : undefined
    if (found) return { name, type: found.typeName, isEnum: found.isEnum, choices: found.typeName === 'Boolean' ? [false, true] : choices }
  }
  throw new TypeError(`The Prisma model has no field ${names.join(' or ')} for "${member}". Name it in fields.`)
}

const nullability = new WeakMap<object, Map<string, boolean>>()

/** Whether a field can be null. Prisma tells it only by refusing the question, before anything is sent. Asked once a field. */
export async function acceptsNull(model: PrismaModel, name: string): Promise<boolean> {
  const known = nullability.get(model) ?? new Map<string, boolean>()
  nullability.set(model, known)
  const accepts = known.get(name) ?? (await askNull(model, { [name]: null }))
  known.set(name, accepts)
  return accepts
}

async function askNull(model: PrismaModel, where: Where) {
  try {
    await model.findMany({ where, take: 0 })
    return true
  } catch (error) {
    if ((error as Error).name !== 'PrismaClientValidationError') throw error
    return false
  }
}

/**
 * Prisma cuts times after the millisecond, and its driver adapter takes the local time of a session for UTC. A cursor made of such
 * a time would lose rows or repeat them. So the database is asked whether the rows at the ends of a page have the time that was
 * read; one that has not, and yet gives the same time again, is misread.
 */
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
      `Prisma misreads ${time}, so rows can't be sorted by it: its column is finer than milliseconds, or the session is not in UTC.`
    )
  }
}

function sameAt(name: string, one: PrismaRecord, other: PrismaRecord) {
  return textOf('date-time', one[name]) === textOf('date-time', other[name])
}
