import { table } from '@concordat/postgres/table'
import { authorErrors } from './errors.ts'
import { authorCollection } from './schemas.ts'

/** The statements of authors. */
export const authorTable = table(authorCollection, {
  violations: {
    authors_name_key: () => authorErrors.create('AUTHOR_EXISTS')
  }
})
