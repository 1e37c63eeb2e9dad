const scale = process.env['TEST_SCALE'] ?? 'quick'
if (scale !== 'quick' && scale !== 'long') throw new Error(`TEST_SCALE is ${scale}. It must be quick or long.`)

/** Whether this run repeats what `npm test` proves once: `TEST_SCALE=long`, which `pnpm test:long` sets. */
export const isLong: boolean = scale === 'long'

/** Returns how often to repeat something: `quick` times in `npm test`, `long` times in the long tier. */
export function scaled(quick: number, long: number): number {
  return isLong ? long : quick
}
