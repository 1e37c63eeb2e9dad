import { isCode, type Loaded } from '@concordat/client'
import { shop } from './client.ts'
import { element, onSubmit, say, shown } from './elements.ts'
import { showOrder } from './orders.ts'
import type { Order } from './shop.ts'

const input = element('#edit input', HTMLInputElement)
const button = element('#edit button', HTMLButtonElement)
let loaded: Loaded<Order> | undefined

/** Shows the note of an order in the form when the user chooses the order. */
export function prepareEditing(): void {
  element('#orders', HTMLElement).addEventListener('click', ({ target, currentTarget }) => {
    const row = (target as Element).closest('tr')
    const { id } = row?.dataset ?? {}
    if (id === undefined) return
    for (const other of (currentTarget as Element).children) other.classList.toggle('chosen', other === row)
    void shown(() => edit(id))()
  })
}

async function edit(id: string) {
  loaded = await shop.get('/v2/orders/{id}', { path: { id } }).withResponse()
  input.value = loaded.data.note ?? ''
  input.disabled = button.disabled = false
}

onSubmit('#edit', async ({ note = '' }) => {
  if (loaded === undefined) return
  const { id } = loaded.data
  // With `from`, the change applies only to what the user has seen.
  const result = await shop.update('/v2/orders/{id}', { path: { id }, from: loaded }, () => ({ note: note || null })).result()
  if (result.ok) {
    showOrder(result.data)
    loaded = result
    return say('The note is saved.')
  }
  if (!isCode(result.error, 'PRECONDITION_FAILED')) throw result.error
  loaded = await shop.get('/v2/orders/{id}', { path: { id } }).withResponse()
  showOrder(loaded.data)
  say(`Meanwhile the note was changed to “${loaded.data.note ?? ''}”. Save again to replace it by yours.`)
})
