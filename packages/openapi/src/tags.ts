import { type OpenapiDocument, type Operation, operationsIn, operationsOf } from './document.ts'
import { capital, nounsOf, resourceName, sentence, verbs } from './words.ts'

type Tag = NonNullable<OpenapiDocument['tags']>[number]

/**
 * Returns the tags of the operations and events of a document with descriptions: what the schema of the resource says about it, and what clients
 * can do.
 */
export function describedTags(document: OpenapiDocument): readonly Tag[] {
  const tagged = new Map<string, { readonly path: string; readonly operation: Operation }[]>()
  for (const { path, operation } of operationsOf(document)) for (const tag of operation.tags ?? []) add(tag, path, operation)
  const events = new Map<string, string[]>()
  for (const [type, item] of Object.entries(document.webhooks ?? {}))
    for (const [, { tags = [] }] of operationsIn(item)) for (const tag of tags) events.set(tag, [...(events.get(tag) ?? []), type])
  return [...new Set([...tagged.keys(), ...events.keys()])].map((name) => ({
    name,
    description: [resourceText(name), operationsText(name, tagged.get(name) ?? []), eventsText(events.get(name) ?? [])]
      .filter((text) => text !== '')
      .join(' ')
  }))

  function add(tag: string, path: string, operation: Operation) {
    tagged.set(tag, [...(tagged.get(tag) ?? []), { path, operation }])
  }

  function resourceText(tag: string) {
    const description = document.components?.schemas?.[resourceName(`/${tag}`)]?.['description']
    return typeof description === 'string' ? description.replace(/\.?$/, '.') : ''
  }
}

function operationsText(tag: string, operations: readonly { readonly path: string; readonly operation: Operation }[]): string {
  const own = operations.filter(({ path }) => nounsOf(path).join() === tag)
  if (own.length === 0) return summariesText(operations.map(({ operation }) => String(operation.summary)))
  const inner = operations.flatMap(({ path }) => nounsOf(path).slice(1, 2)).map((noun) => sentence(noun).toLowerCase())
  const order = Object.values(verbs).flat()
  const used = order.filter((verb) => own.some(({ operation }) => new RegExp(`^${verb}(?=[A-Z])`).test(String(operation.operationId))))
  const parts = inner.length === 0 ? '' : `, and their ${listFormat.format(new Set(inner))}`
  return used.length === 0
    ? summariesText(own.map(({ operation }) => String(operation.summary)))
    : `${capital(`${listFormat.format(new Set(used))} ${sentence(tag).toLowerCase()}`)}${parts}.`
}

// The tag groups operations by something other than their path.
function summariesText(summaries: readonly string[]) {
  return summaries.length === 0 ? '' : `${summaries.join('. ')}.`
}

function eventsText(types: readonly string[]) {
  if (types.length === 0) return ''
  return `Events that the service sends to the URLs of subscribed clients: ${listFormat.format(types.map((type) => `\`${type}\``))}.`
}

const listFormat = new Intl.ListFormat('en-GB')
