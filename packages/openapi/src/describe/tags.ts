import { type OpenapiDocument, type Operation, operationsIn, operationsOf } from '../document/document.ts'
import { capital, nounsOf, resourceName, sentence, verbs } from '../document/words.ts'

type Tag = NonNullable<OpenapiDocument['tags']>[number]

/** Returns the tags of a document with descriptions: what the schema of the resource says about it, and what clients can do. */
export function describedTags(document: OpenapiDocument): readonly Tag[] {
  const operations = operationsOf(document)
  const events = Object.entries(document.webhooks ?? {}).flatMap(([type, item]) =>
    operationsIn(item).map(([, operation]) => ({ path: type, operation }))
  )
  return [...new Set([...operations, ...events].flatMap(({ operation }) => operation.tags ?? []))].map((name) => {
    const isTagged = ({ operation }: Tagged) => operation.tags?.includes(name)
    const types = events.filter(isTagged).map(({ path }) => `\`${path}\``)
    const texts = [resourceText(name), operationsText(name, operations.filter(isTagged)), eventsText(types)]
    return { name, description: texts.filter((text) => text !== '').join(' ') }
  })

  function resourceText(tag: string) {
    const description = document.components?.schemas?.[resourceName(`/${tag}`)]?.['description']
    return typeof description === 'string' ? description.replace(/\.?$/, '.') : ''
  }
}

interface Tagged {
  readonly path: string
  readonly operation: Operation
}

function operationsText(tag: string, operations: readonly Tagged[]): string {
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
  return `Events that the service sends to the URLs of subscribed clients: ${listFormat.format(types)}.`
}

const listFormat = new Intl.ListFormat('en-GB')
