// Lines such as <!-- options: start --> mark what scripts write. Without HTML in pages, they would be text.
import type { MarkdownIt } from './markdown-it.ts'

/** Leaves out comments that are lines of their own. Comments in code stay. */
export function withoutComments(md: MarkdownIt): void {
  const endsBlocks = { alt: ['paragraph', 'reference', 'blockquote', 'list', 'table'] }
  md.block.ruler.before(
    'fence',
    'comment',
    (state, line, _end, isProbe) => {
      const text = state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
      if (!/^<!--.*-->$/.test(text)) return false
      if (!isProbe) state.line = line + 1
      return true
    },
    endsBlocks
  )
}
