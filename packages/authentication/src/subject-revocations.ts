import type { Contracts } from '@concordat/plugin-wiring'
import { ownersOf } from './principal.ts'
import type { Revocations } from './revocation-feed.ts'

/** Returns the contract with which other plugins learn that all tokens of a user were revoked, if the source of revocations reports it. */
export function revocationContract(
  { onSubjectRevoked }: Pick<Revocations, 'onSubjectRevoked'> = {},
  issuers: Iterable<string>
): Partial<Contracts> {
  if (onSubjectRevoked === undefined) return {}
  const names = [...issuers]
  return { onSubjectRevoked: (listener) => onSubjectRevoked(async (subject) => listener(subject, ownersOf(subject, names))) }
}
