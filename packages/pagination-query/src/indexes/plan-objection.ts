import type { Demand } from './fit.ts'
import { conjunctsOf, nodesOf, type PlanNode } from './table-scan.ts'

/**
 * What a plan shows against indexes that seem to serve a demand; undefined when nothing. It sees what definitions can't tell, as a
 * comparison by another collation than that of the index. A plan that uses another index says nothing: on a table without
 * rows all of them cost the same.
 */
export function objectionOf(plan: PlanNode, demand: Demand, tables: ReadonlySet<string>, serving: ReadonlySet<string>): string | undefined {
  const nodes = [...nodesOf(plan)].map(({ node }) => node)
  const reads = (node: PlanNode) => node['Relation Name'] !== undefined && tables.has(node['Relation Name'])
  if (nodes.some((node) => node['Node Type'] === 'Seq Scan' && reads(node))) return 'the planner reads the whole table all the same'
  if (demand.order !== undefined && nodes.some(sortsEverything)) return 'the planner sorts all the same'
  for (const node of nodes.filter(reads)) {
    const index = node['Index Name'] ?? node.Plans?.[0]?.['Index Name']
    if (index === undefined || !serving.has(index)) continue
    const left = conjunctsOf(node.Filter ?? '', node.Alias).map(({ text }) => text)
    const sought = node['Index Cond'] ?? ''
    const skipped = lookedUp(demand).find(({ text, expressions: [first = ''] }) => left.includes(text) && !sought.includes(first))
    if (skipped !== undefined) return `the planner can't look up ${skipped.text} in "${index}"`
  }
  return undefined
}

// The parts of a union are sorted anew after each of them was limited: those are few rows.
function sortsEverything(node: PlanNode) {
  return node['Node Type'] === 'Sort' && ![...nodesOf(node)].some(({ node }) => node['Node Type'] === 'Limit')
}

// The planner tests a prefix again for each row that the index finds by it.
function lookedUp({ base, filter, cursor }: Demand) {
  return [...base.filter(({ kind }) => kind === 'equal'), ...filter.filter(({ kind }) => kind !== 'prefix'), ...cursor]
}
