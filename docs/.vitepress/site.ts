// The configuration of VitePress: the pages of docs and the READMEs of packages and examples, where they are.
import { join } from 'node:path'
import { readManifest, repository } from '../../scripts/workspace.ts'
import { chartOf } from './charts.ts'
import { withoutComments } from './comments.ts'
import { type Draw, diagramOf } from './diagrams.ts'
import { linkedFiles, withSiteLinks } from './links.ts'
import type { MarkdownIt, Token } from './markdown-it.ts'
import { navigation, sidebars } from './navigation.ts'
import { withTables } from './options.ts'
import { otherMarkdown, sitePages } from './pages.ts'
import { writeTexts } from './texts.ts'

interface ViteServer {
  readonly middlewares: { use(handler: ReturnType<typeof linkedFiles>): void }
}

/** Returns the configuration. What only the site has installed is passed in, so that this file can be checked without it. */
export function siteConfig(draw: Draw): object {
  const pages = sitePages(repository)
  const { description, publishing } = readManifest(join(repository, 'package.json'))
  return {
    lang: 'en',
    title: 'Concordat',
    description,
    head: [['link', { rel: 'icon', href: 'data:,' }]],
    srcDir: '..',
    srcExclude: otherMarkdown(repository, pages),
    outDir: '.vitepress/dist',
    cacheDir: '.vitepress/node_modules/.cache',
    rewrites: (file: string) => file.replace(/README\.md$/, 'index.md'),
    cleanUrls: true,
    // Every page names its text in Markdown, which tools read more easily.
    transformHead: ({ page }: { readonly page: string }) => [
      ['link', { rel: 'alternate', type: 'text/markdown', href: `/${page.replace(/index\.md$/, 'README.md')}` }]
    ],
    buildEnd: ({ outDir }: { readonly outDir: string }) => writeTexts(repository, outDir, pages),
    markdown: {
      // Pages contain no HTML, and code such as Array<Item> in a sentence is text.
      html: false,
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      config(md: MarkdownIt) {
        withoutComments(md)
        withSiteLinks(md, repository, pages)
        const { fence } = md.renderer.rules
        md.renderer.rules.fence = (tokens, index, ...others) => {
          const { info, content } = tokens[index] as Token
          return diagramOf(info, content, draw) ?? chartOf(info, content) ?? fence(tokens, index, ...others)
        }
      }
    },
    vite: {
      build: { chunkSizeWarningLimit: 3000 },
      // The pages of examples are not entry points of the site.
      optimizeDeps: { entries: [] },
      server: { watch: { ignored: ['**/{dist,.tap}/**'] } },
      plugins: [
        {
          name: 'packages-as-they-are',
          enforce: 'post',
          // VitePress names its own packages, which Vite does not find from the root of the repository. All of them are modules.
          config(config: { optimizeDeps: { include?: string[] } }) {
            config.optimizeDeps.include = []
          }
        },
        {
          name: 'site-pages',
          enforce: 'pre',
          // Pages are modules where they are, and Vue is installed here.
          resolveId: (id: string, _importer: unknown, { ssr }: { readonly ssr?: boolean }) =>
            ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined,
          transform: (text: string, id: string) => (id.endsWith('/docs/options.md') ? withTables(repository, pages, text) : undefined),
          // Vite calls what this returns.
          configureServer({ middlewares }: ViteServer) {
            middlewares.use(linkedFiles(repository))
          }
        }
      ]
    },
    themeConfig: {
      nav: navigation(repository),
      sidebar: sidebars(repository, pages),
      outline: { level: [2, 3] },
      search: {
        provider: 'local',
        // Pages that explain come before those that are made of declarations.
        options: { miniSearch: { searchOptions: { boostDocument: (id: string) => (id.startsWith('/docs/api/') ? 0.2 : 1) } } }
      },
      ...(publishing?.repository && { socialLinks: [{ icon: 'github', link: publishing.repository }] }),
      externalLinkIcon: false
    }
  }
}
