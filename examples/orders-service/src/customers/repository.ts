import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { ExpectedVersions, Statements, Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import type { Customer, CustomerChanges, NewCustomer } from './schemas.ts'

const columns = 'id, company_name AS "companyName", contact_name AS "contactName", email, country, created_at AS "createdAt", version'

export function listCustomers(database: Statements, query: ListQuery<Customer>): Promise<Page<Customer>> {
  return runSql(database.client, query)
}

export async function findCustomer(database: Statements, id: string): Promise<Versioned<Customer> | undefined> {
  const [customer] = await database.query<Versioned<Customer>>(`SELECT ${columns} FROM customers WHERE id = $1`, [id])
  return customer
}

export async function createCustomer(
  database: Statements,
  { companyName, contactName, email, country }: NewCustomer
): Promise<Versioned<Customer>> {
  const [customer] = await database.query<Versioned<Customer>>(
    `INSERT INTO customers (id, company_name, contact_name, email, country) VALUES ($1, $2, $3, $4, $5) RETURNING ${columns}`,
    [v7(), companyName, contactName, email, country]
  )
  return customer as Versioned<Customer>
}

/** Returns `undefined` when no customer has this id and an expected version. */
export async function changeCustomer(
  database: Statements,
  id: string,
  changes: CustomerChanges,
  expected: ExpectedVersions
): Promise<Versioned<Customer> | undefined> {
  const { companyName, contactName, email, country } = changes
  const [customer] = await database.query<Versioned<Customer>>(
    `UPDATE customers SET company_name = coalesce($2, company_name), contact_name = coalesce($3, contact_name),
       email = coalesce($4, email), country = coalesce($5, country)
     WHERE id = $1 AND ($6::uuid[] IS NULL OR version = ANY ($6)) RETURNING ${columns}`,
    [id, companyName, contactName, email, country, expected].map((value) => value ?? null)
  )
  return customer
}
