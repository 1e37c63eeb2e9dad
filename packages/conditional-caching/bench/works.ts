// pnpm bench conditional-caching: responses with tags by content and by version, and 304, compared with responses without tags.
const work = (name: string, server: 'bare' | 'caching' | 'untagged', path: string, status: 200 | 304, against?: string) => ({
  name,
  server: [server],
  status,
  ...(against && { against }),
  async load(address: string) {
    const url = address + path
    const first = await fetch(url)
    const etag = first.headers.get('etag')
    if (first.status !== 200 || (etag === null) === (server === 'caching')) throw new Error(`${name} returned ${first.status}, ${etag}`)
    return { url, ...(status === 304 && { headers: { 'if-none-match': String(etag) } }) }
  }
})

export const works = [
  work('item, bare', 'bare', '/products/1', 200),
  work('item, tagged by content', 'caching', '/products/1', 200, 'item, bare'),
  work('item, tagged by version', 'caching', '/versioned/products/1', 200, 'item, bare'),
  work('item, 304 by content', 'caching', '/products/1', 304, 'item, bare'),
  work('item, 304 by version', 'caching', '/versioned/products/1', 304, 'item, bare'),
  work('item, 304 by version, async', 'caching', '/versioned/later/1', 304, 'item, bare'),
  work('page of 50, bare', 'bare', '/pages/1', 200),
  work('page of 50, tagged by content', 'caching', '/pages/1', 200, 'page of 50, bare'),
  work('page of 50, 304 by content', 'caching', '/pages/1', 304, 'page of 50, bare'),
  work('page of 50, 304 by version', 'caching', '/versioned/pages/1', 304, 'page of 50, bare'),
  work('20 KB, bare', 'bare', '/large/1', 200),
  work('20 KB, without a tag', 'untagged', '/large/1', 200, '20 KB, bare'),
  work('20 KB, tagged by content', 'caching', '/large/1', 200, '20 KB, without a tag')
]
