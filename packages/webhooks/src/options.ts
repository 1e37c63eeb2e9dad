/** Settings of the plugin. */
export interface WebhooksOptions {
  /** The longest path that is let through, in characters. @default 2048 */
  readonly maxPathLength?: number
}

/** Fills in the defaults. Throws a `TypeError` with one line for a value that makes no sense. */
export function resolveOptions({ maxPathLength = 2048 }: WebhooksOptions): Required<WebhooksOptions> {
  if (!Number.isInteger(maxPathLength) || maxPathLength < 1) {
    throw new TypeError(`maxPathLength is ${maxPathLength}. Give a whole number of at least 1.`)
  }
  return { maxPathLength }
}
