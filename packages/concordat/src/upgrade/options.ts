import type { Node, ObjectExpression } from 'oxc-parser'
import type { Edit, Place } from './nodes.ts'

/**
 * Returns the edits that rename options in the objects that are passed to a function, or beside a plugin to `register`. `renamed` has the new names by the
 * path of the option. Adds to `left` the objects that are written elsewhere.
 */
export function optionEdits(
  path: string,
  nodes: readonly Place[],
  callee: string,
  renamed: Readonly<Record<string, string>>,
  left: string[]
): Edit[] {
  return nodes.flatMap(({ node }) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return []
    const isPassed = [node.callee, ...node.arguments].some((one) => one.type === 'Identifier' && one.name === callee)
    if (!isPassed) return []
    const given = node.arguments.filter((one) => !(one.type === 'Identifier' && one.name === callee))
    return Object.entries(renamed).flatMap(([option, name]) =>
      given.flatMap((one) => {
        const edit = editIn(one, option.split('.'), name)
        if (edit === 'unknown')
          left.push(`${path} passes options to ${callee} that are not written there. Rename ${option} to ${name} if they have it.`)
        return typeof edit === 'object' ? [edit] : []
      })
    )
  })
}

/** Returns the edit of a member of an object, `unknown` where the object is not written there, or `undefined` where it does not have the member. */
function editIn(object: Node, [first = '', ...rest]: readonly string[], name: string): Edit | 'unknown' | undefined {
  if (object.type !== 'ObjectExpression') return object.type === 'Literal' || object.type.includes('Function') ? undefined : 'unknown'
  const property = propertyOf(object, first)
  if (property === undefined) return object.properties.some(({ type }) => type === 'SpreadElement') ? 'unknown' : undefined
  if (rest.length > 0) return editIn(property.value, rest, name)
  const { start, end } = property.key
  return { start, end, text: property.shorthand ? `${name}: ${first}` : name }
}

function propertyOf({ properties }: ObjectExpression, name: string) {
  return properties.flatMap((one) => (one.type === 'Property' && !one.computed ? [one] : [])).find(({ key }) => nameIn(key) === name)
}

function nameIn(key: Node) {
  if (key.type === 'Identifier') return key.name
  return key.type === 'Literal' ? key.value : undefined
}
