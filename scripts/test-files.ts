// Runs test files one after the other in one process, each as a subtest: `node scripts/test-files.ts a.test.ts b.test.ts`. What they
// import from tap is that subtest, so that their hooks and teardowns end with the file. A process for each file takes more time: its start,
// and code that is not optimized yet.
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

const scheme = 'subtest:'
// Taken out before tap is loaded, which names the folders of fixtures after the arguments.
const files = process.argv.splice(2)
const { default: root } = await import('tap')
const urls = files.map((file) => pathToFileURL(resolve(file)).href)
const timeout = Number(process.env['TAP_TIMEOUT'] ?? 30) * 1000

/** The subtest of each file, in the order of the arguments. */
export const subtests: Test[] = []

registerHooks({
  resolve(specifier, context, next) {
    const index = urls.indexOf(context.parentURL ?? '')
    const importsTap = index >= 0 && specifier === 'tap'
    return importsTap ? { url: `${scheme}${index}`, shortCircuit: true } : next(specifier, context)
  },
  load(url, context, next) {
    if (!url.startsWith(scheme)) return next(url, context)
    const index = Number(url.slice(scheme.length))
    const source = `import { subtests } from '${import.meta.url}'
      const subtest = subtests[${index}]
      export const test = subtest.test.bind(subtest)
      export default subtest`
    return { format: 'module', source, shortCircuit: true }
  }
})

root.setTimeout(timeout * files.length)
// A test tool that sets the limit of its file would set that of all of them.
Object.assign(root, { setTimeout() {} })
for (const [index, file] of files.entries()) {
  void root.test(file, { timeout }, async (t) => {
    subtests[index] = t
    await import(urls[index] as string)
  })
}
