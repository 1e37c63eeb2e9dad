/** Keeps the latest values by their key, at most so many: what was used longest ago goes first. */
export class PlanCache<Plan> {
  readonly #plans = new Map<string, Plan>()
  readonly #size: number

  constructor(size: number) {
    this.#size = size
  }

  get(key: string): Plan | undefined {
    const plan = this.#plans.get(key)
    if (plan !== undefined && this.#plans.size === this.#size) this.#renew(key, plan)
    return plan
  }

  set(key: string, plan: Plan): void {
    if (this.#size === 0) return
    if (this.#plans.size === this.#size) this.#plans.delete(this.#plans.keys().next().value as string)
    this.#plans.set(key, plan)
  }

  // The order only matters when something is about to go.
  #renew(key: string, plan: Plan) {
    this.#plans.delete(key)
    this.#plans.set(key, plan)
  }
}
