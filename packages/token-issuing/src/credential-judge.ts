import { invalidCredentials } from './errors.ts'
import { canonicalUsername, loginAttempts } from './login-attempts.ts'
import type { Settings, TokenUser } from './options.ts'
import { passwords } from './passwords.ts'

/**
 * Creates the function that returns the user with a name and password. It throws INVALID_CREDENTIALS (401), LOGIN_ATTEMPTS_EXCEEDED (429) and
 * LOGINS_OVERLOADED (503). No failure reveals to the client whether the user exists.
 */
export function credentialJudge(settings: Settings) {
  const hasher = passwords()
  const countAttempt = loginAttempts(settings.stores.loginAttempts, settings.attempts)

  async function compare(username: string, password: string) {
    const user = await settings.findUser(username)
    const verdict = await hasher.compare(password, user?.passwordHash)
    if (user === undefined || verdict === 'wrong') return undefined
    if (verdict === 'outdated') await replaceHash(user, password)
    return user
  }

  async function replaceHash(user: TokenUser, password: string) {
    if (settings.onRehash === undefined) return
    try {
      await settings.onRehash(user, await hasher.rehash(password))
    } catch (error) {
      // The next sign-in retries.
      settings.onError(error)
    }
  }

  return async (entered: string, password: string, address: string | undefined): Promise<TokenUser> => {
    const username = canonicalUsername(entered)
    const giveBack = await countAttempt(username, address, Date.now())
    const user = await compare(username, password).catch(async (error: unknown) => {
      // A failed comparison reveals nothing, so it does not count as a guess.
      await giveBack()
      throw error
    })
    if (user === undefined) throw invalidCredentials()
    await giveBack()
    return user
  }
}
