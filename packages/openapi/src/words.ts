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

/** The default texts of an operation, derived from its path and method. */
export interface OperationNames {
  /** The id of the operation, for example `listOrderItems`. */
  readonly operationId: string
  /** The summary of the operation, for example `List order items`. */
  readonly summary: string
  /** The verb of the operation, for example `list`. */
  readonly verb: string
  /** What a successful response contains, for example `A page of order items.` */
  readonly content: string
}

/** Returns the default texts of an operation. */
export function operationNames(method: string, path: string, isList: boolean): OperationNames {
  const singular = resourceName(path)
  const [ofCollection, ofItem] = verbs[method] ?? [method, method]
  const verb = isList ? ofCollection : ofItem
  const plural = singular.replace(/[A-Z][a-z0-9]*$/, (last) => pluralize.plural(last))
  const phrase = sentence(singular).toLowerCase()
  const many = sentence(plural).toLowerCase()
  return {
    operationId: `${verb}${isList ? plural : singular}`,
    summary: sentence(isList ? `${verb} ${many}` : `${verb} ${articleOf(phrase)} ${phrase}`),
    verb,
    content: isList ? `A page of ${many}.` : `The ${phrase}.`
  }
}

function articleOf(phrase: string) {
  return /^(?:[aeio]|u(?!ni|se))/.test(phrase) ? 'an' : 'a'
}
