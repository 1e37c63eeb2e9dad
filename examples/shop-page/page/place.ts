import { isCode } from '@concordat/client'
import { shop } from './client.ts'
import { element, onSubmit, say } from './elements.ts'
import { showOrder, showOrders } from './orders.ts'
import type { NewOrder } from './shop.ts'

// Survives a reload of the page: the same order with the same key is placed once, however often it is sent.
const place = 'shop-page.unfinished-order'
const unfinished = () => JSON.parse(sessionStorage.getItem(place) ?? 'null') as { body: NewOrder; idempotencyKey: string } | null

/** Fills the list of products, and reports an order that was sent without a response. */
export async function preparePlacing(): Promise<void> {
  const products = await shop.get('/v2/products', { query: { discontinued: false, perPage: 100 } })
  const options = products.map(({ id, name, unitPrice, currency }) => new Option(`${name}, ${unitPrice} ${currency}`, id))
  element('#place select', HTMLSelectElement).replaceChildren(...options)
  if (unfinished() !== null) askAgain()
}

onSubmit('#place', async ({ productId = '', quantity, note }) => {
  const body: NewOrder = { items: [{ productId, quantity: Number(quantity) }], ...(note !== '' && { note }) }
  await send(unfinished() ?? { body })
})

async function send(order: { body: NewOrder; idempotencyKey?: string }) {
  const result = await shop.post('/v2/orders', order).result()
  if (result.ok) {
    sessionStorage.removeItem(place)
    element('#place button', HTMLButtonElement).textContent = 'Place'
    await showOrders()
    showOrder(result.data)
    return say(`The order of ${result.data.total.amount} ${result.data.total.currency} is placed.`)
  }
  const { error } = result
  // It is possibly placed: only the same key makes sure that it is not placed twice.
  if (error.effect === 'unknown' && error.retry === 'later') {
    sessionStorage.setItem(place, JSON.stringify({ body: order.body, idempotencyKey: error.idempotencyKey }))
    return askAgain()
  }
  sessionStorage.removeItem(place)
  if (isCode(error, 'INSUFFICIENT_STOCK')) return say(`${error.message} Choose another quantity.`)
  say([error.message, ...error.errors.map(({ field, message }) => `${field} ${message}.`)].join(' '))
}

function askAgain() {
  element('#place button', HTMLButtonElement).textContent = 'Send again'
  say('No response was received. Send the order again: it is placed only once.')
}
