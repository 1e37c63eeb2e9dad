import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { onViolation, type Statements } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { customerErrors } from './errors.ts'
import type { Customer, CustomerChanges, NewCustomer } from './schemas.ts'

const columns = 'id, company_name AS "companyName", contact_name AS "contactName", email, country, created_at AS "createdAt"'
const refused = { customers_email_key: () => customerErrors.create('EMAIL_IN_USE') }

export function listCustomers(database: Statements, query: ListQuery<Customer>): Promise<Page<Customer>> {
  return runSql(database.client, query)
}

export async function findCustomer(database: Statements, id: string): Promise<Customer | undefined> {
  const [customer] = await database.query<Customer>(`SELECT ${columns} FROM customers WHERE id = $1`, [id])
  return customer
}

export async function createCustomer(database: Statements, { companyName, contactName, email, country }: NewCustomer): Promise<Customer> {
  const [customer] = await onViolation(
    database.query<Customer>(
      `INSERT INTO customers (id, company_name, contact_name, email, country) VALUES ($1, $2, $3, $4, $5) RETURNING ${columns}`,
      [v7(), companyName, contactName, email, country]
    ),
    refused
  )
  return customer as Customer
}

export async function changeCustomer(database: Statements, id: string, changes: CustomerChanges): Promise<Customer | undefined> {
  const { companyName, contactName, email, country } = changes
  const [customer] = await onViolation(
    database.query<Customer>(
      `UPDATE customers SET company_name = coalesce($2, company_name), contact_name = coalesce($3, contact_name),
         email = coalesce($4, email), country = coalesce($5, country)
       WHERE id = $1 RETURNING ${columns}`,
      [id, companyName, contactName, email, country].map((value) => value ?? null)
    ),
    refused
  )
  return customer
}
