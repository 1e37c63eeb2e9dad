import pluralize from 'pluralize'

/** Returns the static segments of a path after its version: `['orders', 'items']` for `/v1/orders/{id}/items/{itemId}`. */
export function nounsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  const at = segments.findIndex((segment) => /^v\d+$/.test(segment))
  return segments.slice(at + 1).filter((segment) => !/[{}*:]/.test(segment))
}

/** Returns the name of the resource at a path, for example `OrderItem`. */
export function resourceName(path: string): string {
  return nounsOf(path)
    .map((noun) => pascalCase(pluralize.singular(noun)))
    .join('')
}

/** Returns a name in Pascal case: `OrderItem` for `order-item`, `orderItem`, `order_item` or `https://example.com/order-item.json`. */
export function pascalCase(text: string): string {
  return wordsIn(text)
    .map((word) => word.replace(/^./, (letter) => letter.toUpperCase()))
    .join('')
}

/** Returns a name as separate words with an initial capital: `Order items` for `order-items`. */
export function sentence(text: string): string {
  return wordsIn(text)
    .join(' ')
    .toLowerCase()
    .replace(/^./, (letter) => letter.toUpperCase())
}

function wordsIn(text: string) {
  return text
    .replace(/^.*\/(?=.)/, '')
    .replace(/\.json$|#$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
}

const verbs: Readonly<Record<string, readonly [collection: string, item: string]>> = {
  get: ['list', 'get'],
  post: ['create', 'create'],
  put: ['replace', 'replace'],
  patch: ['change', 'change'],
  delete: ['delete', 'delete']
}

/** Returns the default id and summary of an operation, for example `listOrderItems` and `List order items`. */
export function operationNames(method: string, path: string, isList: boolean): { readonly operationId: string; readonly summary: string } {
  const singular = resourceName(path)
  const [ofCollection, ofItem] = verbs[method] ?? [method, method]
  const verb = isList ? ofCollection : ofItem
  const noun = isList ? singular.replace(/[A-Z][a-z0-9]*$/, (last) => pluralize.plural(last)) : singular
  return { operationId: `${verb}${noun}`, summary: sentence(`${verb}${noun}`) }
}

/** Creates a function that derives the name of a schema from its `$id`. Different ids get different names. */
export function schemaNames(): (schema: { readonly $id?: unknown }) => string {
  const names = new Map<string, string>()
  return ({ $id }) => {
    const id = String($id)
    const known = names.get(id)
    if (known !== undefined) return known
    const base = pascalCase(id) || 'Schema'
    const taken = new Set(names.values())
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}${number}`
    names.set(id, name)
    return name
  }
}
