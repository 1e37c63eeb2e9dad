/**
 * Keeps values by their key, at most so many: what was used longest ago goes first. A value is kept when it is made the second
 * time, so that what is asked once, as each page of a walk is, pushes nothing out.
 */
export class PlanCache<Plan> {
  readonly #plans = new Map<string, Plan>()
  readonly #seen = new Set<string>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: string): Plan | undefined {
    const plan = this.#plans.get(key)
    // The order only matters when something is about to go.
    if (plan !== undefined && this.#plans.size === this.#size) {
      this.#plans.delete(key)
      this.#plans.set(key, plan)
    }
    return plan
  }

  /** Takes a value that `get` did not have. Answers whether it is kept. */
  offer(key: string, plan: Plan): boolean {
    if (!this.#seen.delete(key)) {
      if (this.#seen.size >= this.#size) this.#seen.clear()
      if (this.#size > 0) this.#seen.add(key)
      return false
    }
    if (this.#plans.size === this.#size) this.#plans.delete(this.#plans.keys().next().value as string)
    this.#plans.set(key, plan)
    return true
  }
}
