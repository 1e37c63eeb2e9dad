import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type ExpectedVersions, onViolation, type Statements, type Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { bookErrors } from './errors.ts'
import type { Book, BookChanges, NewBook } from './schemas.ts'

const columns = 'id, title, author_id AS "authorId", year, summary, created_at AS "createdAt", version'
const violations = {
  books_author_id_fkey: () => bookErrors.create('UNKNOWN_AUTHOR', { errors: [{ field: 'body.authorId', key: 'unknownAuthor' }] })
}

export function listBooks(database: Statements, query: ListQuery<Book>): Promise<Page<Book>> {
  return runSql(database.client, query)
}

export async function findBook(database: Statements, id: string): Promise<Versioned<Book> | undefined> {
  const [row] = await database.query<Versioned<Book>>(`SELECT ${columns} FROM books WHERE id = $1`, [id])
  return row
}

export async function createBook(database: Statements, { title, authorId, year, summary }: NewBook): Promise<Versioned<Book>> {
  const insertion = `INSERT INTO books (id, title, author_id, year, summary) VALUES ($1, $2, $3, $4, $5) RETURNING ${columns}`
  const values = [v7(), title, authorId, year, summary ?? null]
  const [row] = await onViolation(database.query<Versioned<Book>>(insertion, values), violations)
  return row as Versioned<Book>
}

/** Returns `undefined` when no row has this id and an expected version. */
export async function changeBook(
  database: Statements,
  id: string,
  { title, authorId, year, summary }: BookChanges,
  expected: ExpectedVersions
): Promise<Versioned<Book> | undefined> {
  const update = `UPDATE books SET title = coalesce($2, title), author_id = coalesce($3, author_id), year = coalesce($4, year),
      summary = CASE WHEN $6 THEN NULL ELSE coalesce($5, summary) END, version = gen_random_uuid()
    WHERE id = $1 AND ($7::uuid[] IS NULL OR version = ANY ($7)) RETURNING ${columns}`
  const values = [id, title ?? null, authorId ?? null, year ?? null, summary ?? null, summary === null, expected]
  const [row] = await onViolation(database.query<Versioned<Book>>(update, values), violations)
  return row
}

/** Returns `undefined` when no row has this id and an expected version. */
export async function deleteBook(database: Statements, id: string, expected: ExpectedVersions): Promise<string | undefined> {
  const deletion = 'DELETE FROM books WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY ($2)) RETURNING id'
  const [row] = await database.query<{ id: string }>(deletion, [id, expected])
  return row?.id
}
