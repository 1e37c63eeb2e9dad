import { type MetricAttributes, measureCalls, type Observer } from '@concordat/plugin-kit/observer'
import t from 'tap'

function noting() {
  const noted: (MetricAttributes | undefined)[] = []
  const record: Observer['record'] = ({ unit }, seconds, attributes) => {
    if (unit !== 's' || seconds < 0) throw new Error(`${seconds} ${unit}`)
    noted.push(attributes)
  }
  return { noted, observer: { record } as Observer }
}

class Shelf {
  readonly #books = ['Emma']
  readonly guarantees = { durable: true }
  get size() {
    return this.#books.length
  }
  async find(title: string) {
    return this.#books.includes(title)
  }
  async lose() {
    throw new Error('lost')
  }
  now() {
    return this.#books[0]
  }
}

t.test('asynchronous calls of a store are measured, also those that fail, and everything else is as it was', async (t) => {
  const { noted, observer } = noting()
  const shelf = measureCalls(observer, 'shelf', new Shelf())
  t.equal(await shelf.find('Emma'), true)
  await t.rejects(shelf.lose(), { message: 'lost' })
  t.strictSame([shelf.size, shelf.now(), shelf.guarantees.durable, 'lose' in shelf, 'buy' in shelf], [1, 'Emma', true, true, false])
  t.equal(Reflect.get(shelf, 'find'), Reflect.get(shelf, 'find'))
  t.strictSame(noted, [
    { store: 'shelf', operation: 'find' },
    { store: 'shelf', operation: 'lose', 'error.type': 'failed' }
  ])
})

t.test('without an observer, it is the store itself', async (t) => {
  const shelf = new Shelf()
  t.equal(measureCalls(undefined, 'shelf', shelf), shelf)
})
