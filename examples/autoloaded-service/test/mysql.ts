import { randomUUID } from 'node:crypto'
import knex, { type Knex } from 'knex'

const url = process.env['TEST_MYSQL_URL']

/** The reason to skip the tests, or false. */
export const skip: string | false = url === undefined && 'TEST_MYSQL_URL is not set'

/** Opens a new, empty database. */
export async function openMysql(): Promise<{ database: Knex; close: () => Promise<void> }> {
  const name = `autoloaded_${randomUUID().replaceAll('-', '')}`
  const administration = connect(String(url))
  await administration.raw('create database ?? character set utf8mb4 collate utf8mb4_bin', [name])
  const database = connect(Object.assign(new URL(String(url)), { pathname: `/${name}` }).href)
  return {
    database,
    async close() {
      await database.destroy()
      await administration.raw('drop database ??', [name])
      await administration.destroy()
    }
  }
}

function connect(address: string) {
  const { hostname, port, username, password, pathname } = new URL(address)
  const login = { host: hostname, port: Number(port || 3306), user: username, password, database: pathname.slice(1) }
  return knex({ client: 'mysql2', connection: { ...login, supportBigNumbers: true, dateStrings: true, timezone: '+00:00' } })
}
