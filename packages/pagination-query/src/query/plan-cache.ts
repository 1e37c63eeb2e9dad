/**
 * Caches at most `size` values by key, and evicts the least recently used value first. A value is stored when it is offered for
 * the second time, so that queries that occur only once, such as the pages of a walk, evict nothing.
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
    // The order only matters when the cache is full.
    if (plan !== undefined && this.#plans.size === this.#size) {
      this.#plans.delete(key)
      this.#plans.set(key, plan)
    }
    return plan
  }

  /** Offers the value for a key that `get` did not find. Returns whether it is stored. */
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
