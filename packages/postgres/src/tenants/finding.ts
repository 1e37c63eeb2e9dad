/** A way in which a tenant can reach rows of another one, or a page that reads the rows of all. */
export interface TenantFinding {
  /** The name of the role, table, view, function, policy, key or index, for `waive`. */
  readonly name: string
  /** What is wrong, as a sentence. */
  readonly problem: string
  /** What to do, as a sentence. */
  readonly remedy: string
}
