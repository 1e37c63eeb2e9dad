import { createClient, createSession, type Tokens } from '@concordat/client'
import { api } from './shop.ts'

const place = 'shop-page.tokens'

/** Tabs of this page share it: a token that has expired is refreshed by one of them. */
export const session = createSession(api, {
  store: {
    load: () => JSON.parse(localStorage.getItem(place) ?? '{}').tokens as Tokens | undefined,
    save: (tokens) => localStorage.setItem(place, JSON.stringify({ tokens }))
  }
})

/** The page and the service have one origin. */
export const shop = createClient(api, { baseUrl: location.origin, session })
