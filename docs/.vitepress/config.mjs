import { renderMermaidSVG } from 'beautiful-mermaid'

// With an address that VitePress does not know when it bundles this file, so that Node.js reads the TypeScript itself.
const { siteConfig } = await import(new URL('site.ts', import.meta.url).href)

export default siteConfig(renderMermaidSVG)
