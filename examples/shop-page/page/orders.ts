import { shop } from './client.ts'
import { element, shown } from './elements.ts'
import type { Order } from './shop.ts'

const more = element('#more', HTMLButtonElement)
const table = element('#orders', HTMLElement)
let next: string | undefined

/** Shows the first page of orders. */
export async function showOrders(): Promise<void> {
  table.replaceChildren()
  next = undefined
  await showPage()
}

more.addEventListener('click', shown(showPage))

// A page of a list by cursor: orders that are placed meanwhile move no order to another page.
async function showPage() {
  for await (const page of shop.list('/v2/orders', { query: { perPage: 8 } }).pages(next)) {
    table.append(...page.items.map(rowOf))
    next = page.next
    break
  }
  more.hidden = next === undefined
}

function rowOf({ id, placedAt, status, total, note = '' }: Order) {
  const row = document.createElement('tr')
  row.dataset['id'] = id
  const texts = [new Date(placedAt).toLocaleDateString(), status, `${total.amount} ${total.currency}`, note]
  row.append(...texts.map((text) => Object.assign(document.createElement('td'), { textContent: text })))
  return row
}

/** Shows an order as it is now. */
export function showOrder(order: Order): void {
  const row = table.querySelector(`[data-id="${order.id}"]`)
  if (row === null) table.prepend(rowOf(order))
  else (row.lastElementChild as HTMLElement).textContent = order.note ?? ''
}
