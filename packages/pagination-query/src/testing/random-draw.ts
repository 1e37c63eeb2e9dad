/** A pseudorandom generator that returns the same draws for the same seed (mulberry32). */
export class RandomDraw {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)] as Value
  }

  /** Returns up to `count` of the values in random order, without repetition. */
  some<Value>(values: readonly Value[], count: number): Value[] {
    const left = [...values]
    return Array.from({ length: Math.min(count, left.length) }, () => left.splice(this.below(left.length), 1)[0] as Value)
  }

  /** Returns a random identifier (UUID version 4). */
  uuid(): string {
    const digits = Array.from({ length: 32 }, () => this.below(16).toString(16))
    digits[12] = '4'
    digits[16] = this.pick(['8', '9', 'a', 'b'])
    return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
}
