import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id } from '../fields.ts'

export const Category = Type.Object(
  {
    id: Id,
    name: Type.String({ maxLength: 200, examples: ['Oils and vinegars'] }),
    description: Type.Optional(Type.String({ maxLength: 4000, examples: ['Pressed, infused and aged.'] }))
  },
  { description: 'A group of products. Every product is in one category.' }
)
export type Category = Static<typeof Category>

export const categoryCollection = collection(Category)({
  name: 'categories',
  style: 'page',
  id: 'id',
  defaultSort: ['name'],
  sort: { keys: ['name'] }
})
