/** Sets `NODE_ENV` of this process until the end of the test. */
export function inEnvironment(t: { teardown: (end: () => void) => void }, environment: string): void {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = environment
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
}
