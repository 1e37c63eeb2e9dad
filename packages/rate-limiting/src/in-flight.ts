/** A request in flight. */
export interface Slot {
  readonly address: string
  /** The credentials of the request, which tell the clients of one address apart. */
  readonly client: string
  /** When it was accepted, in milliseconds. */
  since: number
  /** Its index in the list of those in flight, or -1 if it is not in the list. */
  place: number
}

interface Share {
  count: number
  readonly clients: Map<string, number>
}

/** The requests in flight, counted by address and by the clients of each address. */
export class InFlight {
  // In a Set, all slots of the time would keep each other until the next full garbage collection (decision 121).
  readonly #slots: Slot[] = []
  readonly #shares = new Map<string, Share>()

  get size(): number {
    return this.#slots.length
  }

  add(slot: Slot): void {
    const { address, client } = slot
    slot.place = this.#slots.push(slot) - 1
    const share = this.#shares.get(address) ?? { count: 0, clients: new Map<string, number>() }
    if (share.count === 0) this.#shares.set(address, share)
    share.count += 1
    share.clients.set(client, (share.clients.get(client) ?? 0) + 1)
  }

  /** Removes a request. Returns false if it was removed before. */
  remove(slot: Slot): boolean {
    if (slot.place === -1) return false
    const last = this.#slots.pop() as Slot
    if (last !== slot) this.#slots[slot.place] = last
    last.place = slot.place
    slot.place = -1
    const { address, client } = slot
    const share = this.#shares.get(address) as Share
    share.count -= 1
    const left = (share.clients.get(client) as number) - 1
    if (left > 0) share.clients.set(client, left)
    else share.clients.delete(client)
    if (share.count === 0) this.#shares.delete(address)
    return true
  }

  /** Removes the requests that were accepted before this time. */
  removeBefore(time: number): void {
    for (const slot of this.#slots.filter(({ since }) => since < time)) this.remove(slot)
  }

  /**
   * Returns whether a further request would leave its address within an equal share of `room`, or its client within an equal share of the address.
   * Addresses have a larger reserve than clients, because a client can send any credentials.
   */
  isWithinShare({ address, client }: Pick<Slot, 'address' | 'client'>, room: number): boolean {
    const own = this.#shares.get(address)
    const ofAddress = room / (this.#shares.size + (own === undefined ? 1 : 0))
    if (this.size < 2 * room && (own?.count ?? 0) + 1 <= ofAddress) return true
    if (own === undefined || this.size >= 1.5 * room) return false
    const count = own.clients.get(client)
    return (count ?? 0) + 1 <= ofAddress / (own.clients.size + (count === undefined ? 1 : 0))
  }
}
