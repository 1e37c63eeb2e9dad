// What an invariant found, with the first examples.
export interface Failure {
  readonly invariant: string
  count: number
  readonly examples: string[]
}

const maxExamples = 8

export class Evidence {
  readonly failures = new Map<string, Failure>()
  /** Invariants that were checked, with how much: `1,234 orders`. */
  readonly checked = new Map<string, string>()

  fail(invariant: string, example: string): void {
    if (!this.failures.has(invariant)) console.log(`FAILED: ${invariant}: ${example.slice(0, 300)}`)
    const failure = this.failures.get(invariant) ?? { invariant, count: 0, examples: [] }
    failure.count += 1
    if (failure.examples.length < maxExamples) failure.examples.push(example.slice(0, 600))
    this.failures.set(invariant, failure)
  }

  check(invariant: string, extent: string): void {
    this.checked.set(invariant, extent)
  }
}
