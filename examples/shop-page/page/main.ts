import { session } from './client.ts'
import { prepareEditing } from './edit.ts'
import { element, onSubmit, shown } from './elements.ts'
import { prepareExport } from './export.ts'
import { showOrders } from './orders.ts'
import { preparePlacing } from './place.ts'

onSubmit('#sign-in', async ({ username, password }) => {
  await session.signIn({ username, password })
  await start()
})

element('#sign-out', HTMLElement).addEventListener(
  'click',
  shown(async () => {
    await session.signOut()
    location.reload()
  })
)

async function start() {
  const isSignedIn = (await session.token()) !== undefined
  element('#sign-in', HTMLElement).hidden = isSignedIn
  for (const selector of ['#shop', '#sign-out']) element(selector, HTMLElement).hidden = !isSignedIn
  if (isSignedIn) await Promise.all([showOrders(), preparePlacing()])
}

prepareEditing()
prepareExport()
void shown(start)()
