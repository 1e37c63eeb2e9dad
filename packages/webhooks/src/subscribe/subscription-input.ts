import { eventTypesUnknown, urlRefused } from '../errors.ts'
import type { AddressGuard } from '../guard-addresses/address-guard.ts'
import type { SubscriptionChange } from '../store/subscription.ts'

/** Checks what a client sends for a subscription. Throws 422 for a URL that is refused, and for unknown event types. */
export type InputCheck = (input: Pick<SubscriptionChange, 'url' | 'eventTypes'>) => void

/** Returns the check for the event types of the service. */
export function inputCheck(known: readonly string[], guard: Pick<AddressGuard, 'refusalOf'>): InputCheck {
  return ({ url, eventTypes = [] }) => {
    const rule = url === undefined ? undefined : guard.refusalOf(url)
    if (rule !== undefined) throw urlRefused(rule)
    const unknown = [...eventTypes.keys()].filter((position) => !known.includes(eventTypes[position] ?? ''))
    if (unknown.length > 0) throw eventTypesUnknown(unknown)
  }
}
