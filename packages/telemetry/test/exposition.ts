/** The value of a metric in the text format of Prometheus, or the sum of those with the given labels; undefined without one. */
export function valueOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const found = text.split('\n').filter((line) => {
    const [, metric, given = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
    return metric === name && wanted.every((pair) => given.split(/,(?=\w+=")/).includes(pair))
  })
  return found.length === 0 ? undefined : found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
