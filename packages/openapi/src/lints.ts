import type { OpenapiDocument } from './document.ts'
export interface RouteLint {
  readonly id: string
  readonly check: (route: { readonly method: string; readonly url: string }) => string | undefined
}
export const lintIds: readonly string[] = []
export interface Finding {
  readonly rule: string
  readonly place: string
  readonly problem: string
  readonly remedy: string
}
export function findingsIn(_document: OpenapiDocument, _settings: object): readonly Finding[] {
  return []
}
export function reportOf(findings: readonly Finding[]): string {
  return findings.map((f) => f.problem).join('\n')
}
