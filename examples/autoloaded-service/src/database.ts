import type { Knex } from 'knex'

/** A task, as clients see it. */
export interface Task {
  readonly id: number
  readonly title: string
  readonly hours: number
  readonly owner: string
}

/** Creates the tables of the service. */
export async function createTables(database: Knex): Promise<void> {
  await database.schema.createTable('tasks', (table) => {
    table.increments('id')
    table.string('title', 100).notNullable().unique()
    table.integer('hours').notNullable()
    table.string('owner', 50).notNullable()
    table.binary('picture')
  })
}
