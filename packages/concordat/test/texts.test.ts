import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'

const command = join(import.meta.dirname, '../src/command.ts')
const fromPackages = (path: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, '../..', path)).href)

/** The source of a service that needs these texts. Outside of the command, it prints that it listens. */
const serviceWith = (message: string, locales: string, extra = '') => `
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import errorCatalogue, { defineErrors, defineTexts, errorCatalogueServerOptions } from ${fromPackages('error-catalogue/src/index.ts')}
const app = Fastify({ ...errorCatalogueServerOptions() })
const include = [defineErrors({ LOST: { statusCode: 409, message: { en: ${message} }, remedy: '' } })]
const texts = [defineTexts({ files: { en: { plural: 'count', one: '{count} file', other: '{count} files' } } })]
await app.register(errorCatalogue, { include, texts, locales: ${locales} ${extra} })
await app.listen({ port: Number(process.env.PORT) })
console.error('It listens.')
setTimeout(() => process.exit(), 1000)
`

interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

function project(t: Test, source: string, start = 'node --no-warnings main.mjs') {
  const cwd = t.testdir({})
  const write = (name: string, content: string | object) => {
    mkdirSync(join(cwd, 'locales'), { recursive: true })
    writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  write('main.mjs', source)
  write('package.json', { type: 'module', scripts: { start } })
  rmSync(join(cwd, 'locales'), { recursive: true })
  const texts = (...args: readonly string[]) =>
    new Promise<Outcome>((resolve) => {
      const program = ['--conditions=@concordat/source', command, 'texts', ...args]
      execFile(process.execPath, program, { cwd }, (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
      )
    })
  const read = (name: string): Record<string, unknown> => JSON.parse(readFileSync(join(cwd, 'locales', name), 'utf8'))
  return { cwd, texts, read, write }
}

t.test('writes what is to be translated, keeps translations, and marks those whose English text changed', async (t) => {
  const { texts, read, write } = project(t, serviceWith(`'The order is lost.'`, `['en', 'de', 'pl', 'de-AT']`))
  t.match(await texts('de', 'pl', 'de-AT'), {
    code: 0,
    err: '',
    out: /^locales\/en\.json: \d+ texts\nlocales\/de\.json: \d+ to translate\n/
  })
  const english = read('en.json')
  t.match(english, { LOST: 'The order is lost.', 'texts.files_one': '{count} file', 'fields.required': 'is required' })
  t.strictSame(Object.keys(english), Object.keys(english).toSorted())
  const german = read('de.json')
  t.strictSame(Object.keys(german), Object.keys(english), 'German has the plural forms of English')
  t.strictSame(new Set(Object.values(german)), new Set(['']))
  const polish = Object.keys(read('pl.json')).filter((key) => key.startsWith('texts.files'))
  t.strictSame(polish, ['texts.files_few', 'texts.files_many', 'texts.files_one', 'texts.files_other'])
  t.strictSame(read('de-AT.json'), {}, 'what its parent has')

  const translated = Object.fromEntries(Object.keys(german).map((key) => [key, `de ${english[key] as string}`]))
  write('locales/de.json', { ...translated, OLD: 'alt', 'texts.files_few': 'x' })
  t.match(await texts('de'), { code: 0, out: /de\.json: 0 to translate; removed OLD, texts\.files_few\n/ })
  t.strictSame(read('de.json'), translated)
  t.strictSame(await texts('--check', 'de'), { code: 0, out: 'Every text is translated.\n', err: '' })

  write('main.mjs', serviceWith(`'The order was lost.'`, `['en']`).replace("one: '{count} file'", "one: 'one file, {count}'"))
  const stale = await texts('--check', 'de')
  t.equal(stale.code, 1)
  t.strictSame(stale.out.trimEnd().split('\n'), [
    'en.json: LOST differs from the code. Run npx concordat texts.',
    'en.json: texts.files_one differs from the code. Run npx concordat texts.',
    'de.json: the English text of LOST has changed. Change the translation, or remove its line in @changed.',
    'de.json: the English text of texts.files_one has changed. Change the translation, or remove its line in @changed.',
    'de.json: the English text of texts.files_other has changed. Change the translation, or remove its line in @changed.'
  ])
  t.strictSame(read('de.json'), translated, '--check writes nothing')
  t.match(await texts(), { code: 0, out: /de\.json: 0 to translate; 3 in @changed, because the English text changed/ })
  const marks = { LOST: 'de The order is lost.', 'texts.files_one': 'de {count} file', 'texts.files_other': 'de {count} files' }
  t.strictSame(read('de.json'), { '@changed': marks, ...translated })
  t.equal(read('en.json')['LOST'], 'The order was lost.')

  const { LOST: _right, ...others } = marks
  write('locales/de.json', { ...translated, '@changed': others, 'texts.files_one': 'eine Datei, {count}' })
  t.match(await texts('--check'), { code: 1, out: /de\.json: the English text of texts\.files_other has changed/ })
  await texts()
  t.strictSame(read('de.json')['@changed'], { 'texts.files_other': 'de {count} files' }, 'the rest was changed, or is still right')
})

t.test('Spanish needs the texts of the service only, and may replace those of the suite', async (t) => {
  const { texts, read, write } = project(t, serviceWith(`'The order is lost.'`, `['en', 'es']`))
  t.match(await texts('es'), { code: 0, out: /es\.json: 4 to translate$/m })
  const keys = ['LOST', 'texts.files_many', 'texts.files_one', 'texts.files_other']
  t.strictSame(Object.keys(read('es.json')), keys)
  const spanish = { GONE: 'Ya no está.', LOST: 'Perdido {what}', 'texts.files_many': '', 'texts.files_one': 'x', 'texts.files_other': 'x' }
  write('locales/es.json', spanish)
  const { code, out } = await texts('--check')
  t.equal(code, 1)
  t.strictSame(out.trimEnd().split('\n'), [
    'es.json: texts.files_many is not translated.',
    'es.json: the placeholders of LOST differ: "en" has none, "es" has {what}. Use the same placeholders in every language.'
  ])
  t.match(await texts(), { code: 0, out: /es\.json: 1 to translate; the placeholders of LOST differ/ })
  t.strictSame(read('es.json'), spanish)
})

t.test('writes to the folder of the option translations, from which the service then starts', async (t) => {
  const source = serviceWith(`'The order is lost.'`, `['en', 'de']`, `, translations: import.meta.dirname + '/words'`)
  const { cwd, texts } = project(t, source)
  t.match(await texts('de'), { code: 0, out: /^words\/en\.json/ })
  t.strictSame(readdirSync(join(cwd, 'words')), ['de.json', 'en.json'])
  const start = () =>
    new Promise<string>((resolve) => {
      const program = ['--conditions=@concordat/source', 'main.mjs']
      execFile(process.execPath, program, { cwd, env: { ...process.env, PORT: '0' } }, (_error, _out, err) => resolve(err))
    })
  t.match(await start(), /texts are missing in options\.locales\. Run "npx concordat texts de"/)
  const { GONE, ...english } = JSON.parse(readFileSync(join(cwd, 'words/en.json'), 'utf8'))
  writeFileSync(join(cwd, 'words/de.json'), JSON.stringify({ '@changed': { GONE }, ...english, GONE }))
  t.equal(await start(), 'It listens.\n')
})

const line = (message: RegExp) => ({ code: 2, out: '', err: message })

t.test('what cannot be done is one line', async (t) => {
  const { texts, write, cwd } = project(t, serviceWith(`'Lost.'`, `['en']`))
  t.match(
    await texts('xx'),
    line(/^"xx" is not a language to translate to\. Name one that Intl knows, such as de or pt-BR; English is in the code\.\n$/)
  )
  t.match(await texts('en'), line(/^"en" is not a language to translate to/))
  for (const content of ['{', '[]', '7', '{"a":{}}', '{"@changed":{"a":7}}']) {
    write('locales/de.json', content)
    t.match(await texts('de'), line(/^.*de\.json (cannot be read: .*|is not a JSON object of texts by key)\. Correct it\.\n$/), content)
  }
  write('main.mjs', 'console.error("warning"); throw new Error("no database")')
  t.match(await texts('de'), line(/^The service does not start, so its texts cannot be read: Error: no database\n$/))
  write('main.mjs', 'console.error("Cannot start: PORT is wrong."); process.exit(1)')
  t.match(await texts('de'), line(/cannot be read: Cannot start: PORT is wrong\.\n$/))
  write('main.mjs', 'process.kill(process.pid, "SIGKILL")')
  t.match(
    await texts('de'),
    line(/^The service was stopped before its texts could be read, as it is after 120 seconds\. Run the command again/)
  )
  write('main.mjs', 'process.exit(1)')
  t.match(await texts('de'), line(/^The service registered no error catalogue, so it has no texts\. Register @concordat\/conventions/))
  write('main.mjs', `import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}\nawait Fastify().ready()`)
  t.match(await texts('de'), line(/^The service registered no error catalogue/))
  write('package.json', { scripts: { start: 'next' } })
  t.match(await texts('de'), line(/^The script "start" in package\.json does not name the file of the service/))
  write('package.json', {})
  t.match(await texts('de'), line(/^The script "start" in package\.json does not name the file/))
  rmSync(join(cwd, 'package.json'))
  t.match(await texts('de'), line(/^There is no package\.json here\. Run the command in the folder of the service\.\n$/))
})
