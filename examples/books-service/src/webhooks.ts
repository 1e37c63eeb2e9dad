// [webhooks] file
import type { WebhooksOptions } from '@concordat/webhooks'
import { type Book, bookEvent } from './books/schemas.ts'

const example: Book = {
  id: '0191106c-03c0-76ff-b1de-b7ec6c68a6a1',
  title: 'Momo',
  authorId: '01911062-dc00-771a-b12f-f840ae896740',
  year: 1973,
  createdAt: '2026-01-31T12:00:00.000Z'
}

/** The events that clients can subscribe to. Books are public, so everyone may receive them. */
export const webhooks = {
  events: {
    'book.created': { description: 'A book was added.', schema: bookEvent, example },
    'book.updated': { description: 'A book was changed.', schema: bookEvent, example }
  },
  mayReceive: 'everyone'
} as const satisfies WebhooksOptions
