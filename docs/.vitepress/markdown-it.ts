// The part of markdown-it's interface that the site uses. Its types are installed with the site only.

export interface Token {
  readonly type: string
  tag: string
  attrs: [string, string][] | null
  /** The language of a block of code. */
  readonly info: string
  readonly content: string
  readonly children: Token[] | null
}

interface BlockState {
  readonly src: string
  readonly bMarks: readonly number[]
  readonly tShift: readonly number[]
  readonly eMarks: readonly number[]
  line: number
}

type BlockRule = (state: BlockState, line: number, end: number, isProbe: boolean) => boolean
type RenderRule = (tokens: readonly Token[], index: number, ...others: unknown[]) => string
type CoreRule = (state: { readonly tokens: readonly Token[]; readonly env: { readonly path: string; readonly realPath?: string } }) => void

export interface MarkdownIt {
  readonly block: {
    readonly ruler: { before(name: string, own: string, rule: BlockRule, options: { readonly alt: readonly string[] }): void }
  }
  readonly renderer: { readonly rules: { fence: RenderRule } }
  readonly core: { readonly ruler: { push(name: string, rule: CoreRule): void } }
}
