import type { Input } from './request.ts'
import { targetOfLink } from './send.ts'
import type { Send } from './sending.ts'

/** A page of a collection. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The cursor of the next page: store it to continue later. Undefined on the last page. */
  readonly next: string | undefined
  /** `_meta.pagination` of the response. */
  readonly pagination: unknown
}

/** All items of a collection, page by page. A list by cursor is complete for rows whose sort key does not change; a list by page number is not. */
export interface List<Item> extends AsyncIterable<Item> {
  /** Begins with the first page, or with the page of a cursor from {@link Page}. */
  pages(next?: string): AsyncIterable<Page<Item>>
}

interface ListBody {
  readonly data: readonly never[]
  readonly _links?: readonly { readonly rel: string; readonly href: string }[] | undefined
  readonly _meta?: { readonly pagination?: unknown } | undefined
}

/** Creates a list. Nothing is sent before its first page is read. */
export function listOf(send: Send, base: string, path: string, input: Input): List<never> {
  async function* pages(from?: string): AsyncGenerator<Page<never>> {
    let target = from === undefined ? undefined : targetOfLink(from, base)
    for (;;) {
      const { body } = await send({ method: 'GET', path, input, target })
      const { data, _links, _meta } = body as ListBody
      const href = _links?.find(({ rel }) => rel === 'next')?.href
      const next = href === undefined ? undefined : targetOfLink(href, base)
      if (next !== undefined && next === target) throw new Error(`client: ${next} follows itself.`)
      yield { items: data, next, pagination: _meta?.pagination }
      if (next === undefined) return
      target = next
    }
  }
  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { items } of pages()) yield* items
    }
  }
}
