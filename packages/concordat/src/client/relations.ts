import type { Description, Schema } from './description.ts'

/** Returns the members that a resource has only in its partial form: its relations, which `include` embeds. */
export function relationsOf(
  description: Description,
  forms: readonly (Schema | boolean)[],
  place: string
): Readonly<Record<string, Schema | boolean>> {
  const schemas = forms.map((one) => description.resolve(one, place) as Schema | undefined)
  const partial = schemas.find((one) => one?.['x-projection'] === true)
  const whole = schemas.filter((one) => one !== partial)
  const isAdded = (name: string) => whole.every((one) => one?.properties !== undefined && !Object.hasOwn(one.properties, name))
  return Object.fromEntries(Object.entries(partial?.properties ?? {}).filter(([name]) => whole.length > 0 && isAdded(name)))
}
