/** Who waits for a key. */
export interface WakeUps {
  /** Resolves when the key is woken, or the signal aborts. */
  of(key: string, signal: AbortSignal): Promise<void>
  /** Lets go of all that wait for the key. */
  wake(key: string): void
}

/** Makes a place to wait in; it remembers nothing of keys that nobody waits for. */
export function wakeUps(): WakeUps {
  const sleepers = new Map<string, Set<() => void>>()

  return {
    of(key, signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const others = sleepers.get(key) ?? new Set()
        sleepers.set(key, others.add(awake))
        signal.addEventListener('abort', awake, { once: true })

        function awake() {
          others.delete(awake)
          if (others.size === 0 && sleepers.get(key) === others) sleepers.delete(key)
          signal.removeEventListener('abort', awake)
          resolve()
        }
      })
    },
    wake(key) {
      for (const awake of sleepers.get(key) ?? []) awake()
    }
  }
}
