/** Returns the element with this selector. Throws when the page has none. */
export function element<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`The page has no ${selector}.`)
  return found
}

/** Shows a message to the user; an empty one hides it. */
export function say(message: string): void {
  element('#message', HTMLElement).textContent = message
}

/** Returns a function that shows the error of this one to the user. */
export function shown(act: () => Promise<void>): () => Promise<void> {
  return () => act().catch((error: Error) => say(error.message))
}

/** Calls a function instead of sending the form, and disables its button meanwhile. */
export function onSubmit(selector: string, act: (values: Record<string, string>) => Promise<void>): void {
  const form = element(selector, HTMLFormElement)
  const button = element(`${selector} button`, HTMLButtonElement)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    say('')
    await shown(() => act(Object.fromEntries(new FormData(form)) as Record<string, string>))()
    button.disabled = false
  })
}
