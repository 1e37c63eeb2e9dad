import type { Demand } from './fit.ts'
import { conjunctsOf, nodesOf, type PlanNode } from './table-scan.ts'

/**
 * Returns the reason why a plan does not use the indexes that appear to serve a statement, or undefined if no such reason is found. It
 * detects what the definitions do not show, such as a comparison with another collation than the collation of the index. A plan that uses
 * another index proves nothing: on a table without rows, all indexes cost the same.
 */
export function objectionOf(plan: PlanNode, demand: Demand, tables: ReadonlySet<string>, serving: ReadonlySet<string>): string | undefined {
  const nodes = [...nodesOf(plan)].map(({ node }) => node)
  const reads = (node: PlanNode) => node['Relation Name'] !== undefined && tables.has(node['Relation Name'])
  if (nodes.some((node) => node['Node Type'] === 'Seq Scan' && reads(node))) return 'the planner reads the whole table anyway'
  if (demand.order !== undefined && nodes.some(sortsEverything)) return 'the planner sorts anyway'
  for (const node of nodes.filter(reads)) {
    const index = node['Index Name'] ?? node.Plans?.[0]?.['Index Name']
    if (index === undefined || !serving.has(index)) continue
    const left = conjunctsOf(node.Filter ?? '', node.Alias).map(({ text }) => text)
    const sought = node['Index Cond'] ?? ''
    const skipped = lookedUp(demand).find(({ text, expressions: [first = ''] }) => left.includes(text) && !sought.includes(first))
    if (skipped !== undefined) return `the planner cannot look up ${skipped.text} in "${index}"`
  }
  return undefined
}

// The parts of a union are limited and then sorted again, which affects few rows.
function sortsEverything(node: PlanNode) {
  return node['Node Type'] === 'Sort' && ![...nodesOf(node)].some(({ node }) => node['Node Type'] === 'Limit')
}

// The planner filters the rows that the index finds for a prefix by the prefix again, so a prefix is not checked here.
function lookedUp({ base, filter, cursor }: Demand) {
  return [...base.filter(({ kind }) => kind === 'equal'), ...filter.filter(({ kind }) => kind !== 'prefix'), ...cursor]
}
