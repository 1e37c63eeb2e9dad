import { type Node, visitorKeys } from 'oxc-parser'

/** A node with the node and the member that it is in. */
export interface Place {
  readonly node: Node
  readonly parent: Node | undefined
  readonly key: string
}

/** Returns a node and all nodes in it. */
export function* nodesIn(node: Node, parent?: Node, key = ''): Generator<Place> {
  yield { node, parent, key }
  for (const member of visitorKeys[node.type] ?? []) {
    const value = (node as unknown as Record<string, unknown>)[member]
    for (const child of Array.isArray(value) ? value : [value]) if (child) yield* nodesIn(child as Node, node, member)
  }
}

/** A part of a text, and what replaces it. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Returns the text with edits, none of which overlap. */
export function edited(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((result, { start, end, text: replacement }) => result.slice(0, start) + replacement + result.slice(end), text)
}
