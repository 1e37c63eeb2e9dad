import type { TestClient } from '@concordat/testing'
import { addAuthor } from './authors.ts'

/** Adds a book. Returns its id. */
export async function addBook(client: TestClient): Promise<string> {
  const book = { title: 'Momo', authorId: await addAuthor(client), year: 1973 }
  return (await client.post('/v1/books', book)).body.data.id
}
