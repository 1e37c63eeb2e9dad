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
  return wordsIn(text).map(capital).join('')
}

/** Returns a name as separate words with an initial capital: `Order items` for `order-items`. */
export function sentence(text: string): string {
  return capital(wordsIn(text).join(' ').toLowerCase())
}

/** Returns a text with an initial capital. */
export function capital(text: string): string {
  return text.replace(/^./, (letter) => letter.toUpperCase())
}

function wordsIn(text: string) {
  return text
    .replace(/^.*\/(?=.)/, '')
    .replace(/\.json$|#$/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
}

/** The verbs with which operation ids begin, by method. */
export const verbs: Readonly<Record<string, readonly [collection: string, item: string]>> = {
  get: ['list', 'get'],
  post: ['create', 'create'],
  put: ['replace', 'replace'],
  patch: ['change', 'change'],
  delete: ['delete', 'delete'],
  query: ['search', 'search']
}

/**
 * Returns the default texts of an operation: its id (`listOrderItems`), its summary (`List order items`), its verb (`list`) and the content of a
 * successful response (`A page of order items.`).
 */
export function operationNames(method: string, path: string, isList: boolean) {
  const singular = resourceName(path)
  const [ofCollection, ofItem] = verbs[method] ?? [method, method]
  const verb = isList ? ofCollection : ofItem
  const plural = singular.replace(/[A-Z][a-z0-9]*$/, (last) => pluralize.plural(last))
  const [phrase, many] = [singular, plural].map((name) => sentence(name).toLowerCase())
  const article = /^(?:[aeio]|u(?!ni|se))/.test(phrase as string) ? 'an' : 'a'
  return {
    operationId: `${verb}${isList ? plural : singular}`,
    summary: sentence(isList ? `${verb} ${many}` : `${verb} ${article} ${phrase}`),
    verb,
    content: isList ? `A page of ${many}.` : `The ${phrase}.`
  }
}
