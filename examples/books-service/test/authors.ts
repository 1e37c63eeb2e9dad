import type { TestClient } from '@concordat/testing'

/** Adds an author. Returns its id. */
export async function addAuthor(client: TestClient): Promise<string> {
  return (await client.post('/v1/authors', { name: `Author ${crypto.randomUUID()}` })).body.data.id
}
