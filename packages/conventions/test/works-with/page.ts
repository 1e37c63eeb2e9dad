import type { Row } from './row.ts'

/** Returns the table of docs/works-with.md: what the tests of each row show. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const place = (name: 'before' | 'after') => (row.refused?.[name] === undefined ? 'works' : 'stops the start')
    const declared = row.outside === undefined ? '' : row.outside.map((path) => `\`${path}\``).join(', ')
    return `| ${row.name} | ${place('before')} | ${place('after')} | ${declared} | ${row.note ?? ''} |`
  })
  const head = ['| plugin | before the preset | after it | paths of the test in `outside` | note |', '| --- | --- | --- | --- | --- |']
  return [...head, ...lines].join('\n')
}
