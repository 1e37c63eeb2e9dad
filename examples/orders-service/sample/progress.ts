/** Shows the progress of a long seeding on the terminal. The default number of orders is seeded before a person could read it. */
export function showProgress(done: number, total: number, output: { write: (text: string) => unknown } = process.stderr): void {
  if (total < 10_000) return
  const filled = Math.floor((done / total) * 30)
  const bar = '█'.repeat(filled) + '░'.repeat(30 - filled)
  output.write(`\rSeeding orders ${bar} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}${done === total ? '\n' : ''}`)
}
