/** Collects log lines and parses them. */
export class CapturedLog {
  text = ''
  #waiting: { message: string; resolve: () => void }[] = []

  readonly stream = {
    write: (line: string) => {
      this.text += line
      this.#waiting = this.#waiting.filter(({ message, resolve }) => this.saying(message).length === 0 || resolve())
    }
  }

  get lines(): Record<string, unknown>[] {
    return this.text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  }

  /** Returns the lines with this message. */
  saying(message: string) {
    return this.lines.filter(({ msg }) => msg === message)
  }

  /** Waits until a line with this message has been written. */
  async until(message: string) {
    await new Promise<void>((resolve) => this.#waiting.push({ message, resolve }))
    return this.saying(message)
  }
}
