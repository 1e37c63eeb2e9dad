const scale = process.env['TEST_SCALE'] ?? 'quick'
if (scale !== 'quick' && scale !== 'long') throw new Error(`TEST_SCALE must be "quick" or "long", but is "${scale}".`)

/** Whether this run repeats what `npm test` tests once: `TEST_SCALE=long`, which `pnpm test:long` sets. */
export const isLong: boolean = scale === 'long'

/** Returns the number of repetitions: `quick` in `npm test`, `long` in the long tier. */
export function scaled(quick: number, long: number): number {
  return isLong ? long : quick
}
