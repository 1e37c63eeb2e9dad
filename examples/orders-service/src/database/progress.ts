/** Shows on the terminal how far a long seeding is. The usual few orders are there before anybody could read it. */
export function showProgress(done: number, total: number): void {
  if (total < 10_000) return
  const filled = Math.floor((done / total) * 30)
  const bar = '█'.repeat(filled) + '░'.repeat(30 - filled)
  process.stderr.write(`\rSeeding orders ${bar} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}${done === total ? '\n' : ''}`)
}
