// Pages that are written by measurements have charts of text. Here they become charts with bars and areas of the same figures.

const levels = ' ▁▂▃▄▅▆▇█'

/** Returns the chart of a block of text, or undefined if it is not a chart. */
export function chartOf(language: string, text: string): string | undefined {
  if (language !== 'text' || !/[▁-█]/.test(text)) return undefined
  const lines = text.trimEnd().split('\n')
  const rows = text.includes(' ≤ ') ? lines.map(area) : lines.map(bar)
  return `<div class="chart" v-pre>${rows.join('\n')}</div>\n`
}

/** `  Fastify   ██████ 52.0`, or the title of the bars that follow. Fifty blocks are the longest. */
function bar(line: string) {
  const [, name, blocks, figure] = /^ {2}(.+?) +(█+) (.+)$/.exec(line) ?? []
  if (name === undefined || blocks === undefined) return `<p>${escaped(line)}</p>`
  return `<div class="bar"><span>${escaped(name)}</span><i style="width:${blocks.length}%"></i><b>${escaped(figure ?? '')}</b></div>`
}

/** `responses a second   ▂▃▂█ ≤ 92`, or the letters of the faults, each above its column. */
function area(line: string) {
  const [, name = '', columns = '', most] = /^(.{28}) (.*?)(?: ≤ (.+))?$/.exec(line) ?? []
  const drawn = most === undefined ? letters(columns) : silhouette(columns, name.trim(), most)
  return `<div class="area"><span>${escaped(name.trim())}</span>${drawn}<b>${most === undefined ? '' : `≤ ${escaped(most)}`}</b></div>`
}

function silhouette(columns: string, name: string, most: string) {
  const steps = Array.from(columns, (block, column) => `V${8 - Math.max(0, levels.indexOf(block))}H${column + 1}`)
  return `<svg role="img" aria-label="${escaped(name)}, at most ${escaped(most)}" viewBox="0 0 ${columns.length} 8" preserveAspectRatio="none"><path d="M0 8${steps.join('')}V8Z"/></svg>`
}

/** Neighbours are on three lines, one below the other, because a column is narrower than a letter. */
function letters(columns: string) {
  const places = columns.split('').flatMap((letter, column) => (letter === ' ' ? [] : [{ letter, left: (100 * column) / columns.length }]))
  const shown = places.map(({ letter, left }, index) => `<u style="left:${left.toFixed(1)}%;top:${index % 3}em">${escaped(letter)}</u>`)
  return `<div class="letters">${shown.join('')}</div>`
}

function escaped(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
