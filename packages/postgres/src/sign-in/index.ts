export type { SignInOptions } from './options.ts'
export type { SignIn } from './sign-in.ts'
export { signIn, signInMigrations } from './sign-in.ts'
export type { UserFunctions, UsersTable } from './users-table.ts'
