import type { PrismaField } from './prisma-values.ts'
import type { Where } from './prisma-where.ts'

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
  const names = name === undefined ? [member, member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] : [name]
  for (const name of names) {
    const found = fields[name]
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
    await model.findMany({ where: { AND: [where, { OR: [] }] }, take: 1 })
    return true
  } catch (error) {
    if ((error as Error).name !== 'PrismaClientValidationError') throw error
    return false
  }
}

/**
 * Prisma reads times to the millisecond. A cursor made of one that has more digits would lose rows or repeat them, so that such
 * rows are looked for: at the ends of a page, by their identifier, which is the last of the keys.
 */
export async function refuseFinerTimes(
  model: PrismaModel,
  keys: readonly PrismaField[],
  ends: readonly (PrismaRecord | undefined)[]
): Promise<void> {
  const id = (keys.at(-1) as PrismaField).name
  const times = keys.filter(({ type }) => type === 'DateTime').map(({ name }) => name)
  const finer = ends.flatMap((record) =>
    times.flatMap((name) => {
      const at = record?.[name]
      return at instanceof Date ? [{ [id]: record?.[id], [name]: { gt: at, lt: new Date(at.getTime() + 1) } }] : []
    })
  )
  if (finer.length === 0 || (await model.count({ where: { OR: finer } })) === 0) return
  throw new TypeError(
    `Rows can't be sorted by ${times.join(' or ')}: Prisma reads times to the millisecond, and the database has microseconds.`
  )
}
