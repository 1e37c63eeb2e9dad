import { ApiError } from '@concordat/client'
import { shop } from './client.ts'
import { element, onSubmit, say, shown } from './elements.ts'

const bar = element('#export progress', HTMLProgressElement)
const cancel = element('#export [name=cancel]', HTMLButtonElement)
const link = element('#export a', HTMLAnchorElement)

/** Exports the orders when the user asks for it. */
export function prepareExport(): void {
  onSubmit('#export', exportOrders)
}

async function exportOrders() {
  link.hidden = true
  bar.value = 0
  const job = await shop.job('/v2/order-exports', { body: {} })
  const stop = shown(() => job.cancel())
  cancel.addEventListener('click', stop)
  cancel.disabled = false
  try {
    const csv: unknown = await job.result({ as: 'text/csv', onProgress: (percent) => (bar.value = percent) })
    bar.value = 100
    link.href = URL.createObjectURL(new Blob([csv as string], { type: 'text/csv' }))
    link.hidden = false
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'JOB_CANCELLED') throw error
    say('The export is cancelled.')
  } finally {
    cancel.disabled = true
    cancel.removeEventListener('click', stop)
  }
}
