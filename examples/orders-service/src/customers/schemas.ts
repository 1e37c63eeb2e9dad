import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, Timestamp } from '../fields.ts'

const writable = {
  companyName: Type.String({ minLength: 1, maxLength: 200, examples: ['Corner Deli'] }),
  contactName: Type.String({ minLength: 1, maxLength: 200, examples: ['Ada Moreno'] }),
  email: Type.String({
    format: 'email',
    maxLength: 254,
    description: 'Where to reach the contact. Several customers may have the same address.'
  }),
  country: Type.String({ minLength: 2, maxLength: 60, examples: ['Spain'] })
}

export const Customer = Type.Object(
  { id: Id, ...writable, createdAt: Timestamp },
  { description: 'A company that orders products, and the person to contact there.' }
)
export type Customer = Static<typeof Customer>

export const customerCollection = collection(Customer)({
  name: 'customers',
  style: 'page',
  id: 'id',
  defaultSort: ['companyName'],
  sort: {
    keys: ['companyName', 'createdAt'],
    combinations: [
      ['companyName', 'createdAt'],
      ['companyName', '-createdAt'],
      ['-companyName', 'createdAt'],
      ['-companyName', '-createdAt']
    ]
  },
  filter: { country: ['eq'] }
})

export const NewCustomer = Type.Object(writable)
export type NewCustomer = Static<typeof NewCustomer>

export const CustomerChanges = Type.Partial(NewCustomer)
export type CustomerChanges = Static<typeof CustomerChanges>
