// Diagrams are Mermaid, which GitHub draws too. Here they are drawn when the site is built, in the colours of the theme.

/** The part of beautiful-mermaid that draws. */
export type Draw = (
  text: string,
  colours: { readonly bg: string; readonly fg: string; readonly muted: string; readonly transparent: boolean; readonly padding: number }
) => string

/** Returns the drawing of a block of code, or undefined if it is not a diagram. The line `accTitle: …` names it for screen readers. */
export function diagramOf(language: string, text: string, draw: Draw): string | undefined {
  if (language !== 'mermaid') return undefined
  const title = /^\s*accTitle: (.+)$/m.exec(text)?.[1] ?? 'Diagram'
  const colours = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', muted: 'var(--vp-c-text-2)', transparent: true, padding: 8 }
  const drawn = draw(text.replace(/^\s*accTitle: .+\n/m, ''), colours)
  // The style sheet is that of the theme: one in each drawing would load a font from elsewhere.
  const svg = drawn
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace('<svg ', `<svg role="img" aria-label="${title.replaceAll('"', '&quot;')}" `)
  return `<div class="diagram" tabindex="0" v-pre>${svg}</div>\n`
}
