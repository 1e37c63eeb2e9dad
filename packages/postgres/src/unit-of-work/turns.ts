/** Runs one operation after another. */
export class Turns {
  #last: Promise<unknown> | undefined

  /** Whether no operation runs or waits. */
  get isIdle(): boolean {
    return this.#last === undefined
  }

  /** Runs the work when all earlier operations have ended, and rejects with what `reasonOf` returns for its error. */
  run<Result>(work: () => Promise<Result>, reasonOf: (error: unknown) => unknown): Promise<Result> {
    // Most operations follow one another, and need not wait.
    const running = this.#last === undefined ? attempt(work) : this.#last.then(work, work)
    const turn: Promise<Result> = running.then(
      (result) => {
        this.#leave(turn)
        return result
      },
      (error: unknown) => {
        this.#leave(turn)
        throw reasonOf(error)
      }
    )
    this.#last = turn
    return turn
  }

  #leave(turn: Promise<unknown>) {
    if (this.#last === turn) this.#last = undefined
  }
}

function attempt<Result>(work: () => Promise<Result>) {
  try {
    return work()
  } catch (error) {
    return Promise.reject<Result>(error)
  }
}
