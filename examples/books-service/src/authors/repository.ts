import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type ExpectedVersions, onViolation, type Statements, type Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { authorErrors } from './errors.ts'
import type { Author, AuthorChanges, NewAuthor } from './schemas.ts'

const columns = 'id, name, created_at AS "createdAt", version'
const violations = {
  authors_name_key: () => authorErrors.create('AUTHOR_EXISTS'),
  books_author_id_fkey: () => authorErrors.create('AUTHOR_HAS_BOOKS') // [books]
}

export function listAuthors(database: Statements, query: ListQuery<Author>): Promise<Page<Author>> {
  return runSql(database.client, query)
}

export async function findAuthor(database: Statements, id: string): Promise<Versioned<Author> | undefined> {
  const [row] = await database.query<Versioned<Author>>(`SELECT ${columns} FROM authors WHERE id = $1`, [id])
  return row
}

export async function createAuthor(database: Statements, { name }: NewAuthor): Promise<Versioned<Author>> {
  const insertion = `INSERT INTO authors (id, name) VALUES ($1, $2) RETURNING ${columns}`
  const [row] = await onViolation(database.query<Versioned<Author>>(insertion, [v7(), name]), violations)
  return row as Versioned<Author>
}

/** Returns `undefined` when no row has this id and an expected version. */
export async function changeAuthor(
  database: Statements,
  id: string,
  { name }: AuthorChanges,
  expected: ExpectedVersions
): Promise<Versioned<Author> | undefined> {
  const update = `UPDATE authors SET name = coalesce($2, name), version = gen_random_uuid()
    WHERE id = $1 AND ($3::uuid[] IS NULL OR version = ANY ($3)) RETURNING ${columns}`
  const [row] = await onViolation(database.query<Versioned<Author>>(update, [id, name ?? null, expected]), violations)
  return row
}

/** Returns `undefined` when no row has this id and an expected version. */
export async function deleteAuthor(database: Statements, id: string, expected: ExpectedVersions): Promise<string | undefined> {
  const deletion = 'DELETE FROM authors WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY ($2)) RETURNING id'
  const [row] = await onViolation(database.query<{ id: string }>(deletion, [id, expected]), violations)
  return row?.id
}
