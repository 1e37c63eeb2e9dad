import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { avoidedWords, type Exception, wordsToAvoid } from '../check-prose.ts'
import { repository } from '../workspace.ts'

const avoided = avoidedWords(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
const exceptions: Exception[] = JSON.parse(readFileSync(join(repository, 'scripts/prose-exceptions.json'), 'utf8'))

/** The lines that the check prints for a text. */
function found(text: string, file = 'a.md') {
  return wordsToAvoid(file, text, avoided, exceptions)
}

/** Sentences with each entry of the left column, in its inflections. */
const inflected: Readonly<Record<string, readonly string[]>> = {
  mend: ['Mend it.', 'It mends itself.', 'It was mended.', 'Mending takes time.'],
  'is told': [
    'It is told.',
    'They are told.',
    'It was told.',
    'They were told.',
    'It can be told.',
    'It has been told.',
    'It is being told.',
    'It is also told.'
  ],
  whoever: ['Whoever calls.'],
  'its time is over': ['Its time is over.', 'Its time was over.', 'Their time is over.', 'The time is over.', 'Their times are over.'],
  anew: ['Sign anew.'],
  'gives up': [
    'It gives up.',
    'They give up.',
    'It gave up.',
    'It was given up.',
    'It gives it up.',
    'They gave them up.',
    'Giving up is fine.'
  ],
  'is no X': ['It is no list.', 'They are no lists.', 'It was no list.', 'They were no lists.', 'It must be no list.'],
  "can't": ["It can't.", 'It can’t.', 'It can not.'],
  'what speaks against it': ['What speaks against it?', 'What spoke against it?'],
  'makes no sense': ['It makes no sense.', 'They make no sense.', 'It made no sense.', 'This is nonsense.'],
  'by hand': ['Do it by hand.', 'By\nhand.']
}

t.test('each word of the left column is found, in every inflection', async (t) => {
  t.equal(avoided.length, Object.keys(inflected).length)
  for (const [first, sentences] of Object.entries(inflected)) {
    t.ok(
      avoided.some(({ words }) => words.startsWith(`\`${first}`)),
      first
    )
    for (const sentence of sentences) t.equal((await found(sentence)).length, 1, sentence)
  }
  for (const { words } of avoided) {
    for (const phrase of words.replaceAll(/\(.*?\)|`/g, '').split(',')) t.equal((await found(`So ${phrase.trim()}.`)).length, 1, phrase)
  }
})

t.test('nothing of the right column is found', async (t) => {
  for (const { instead } of avoided) t.strictSame(await found(`So ${instead}.`), [], instead)
})

t.test('code, names and the listed exceptions may have the words', async (t) => {
  for (const text of [
    'Call `mend()`.',
    '```\nmend it\n```',
    'A hand-written by-hand list.',
    'There is no list.',
    'It is no longer there.'
  ]) {
    t.strictSame(await found(text), [], text)
  }
  t.strictSame(await found("const mend = 'mend'\nmend.told()", 'a.ts'), [])
})

t.test('a finding has its file, its line, the words and what to write', async (t) => {
  t.strictSame(await found('One.\n\nTwo, and\nmend it.'), ['a.md:4 has "mend". Write fix, correct.'])
  const source = [
    'const a = 1',
    '/**',
    ' * Returns a.',
    ' * Mends it.',
    ' */',
    "f(a, 'is no list')",
    'f(`is ${a} told`, `they are told`)',
    '// It is no',
    '// list.'
  ].join('\n')
  t.strictSame(await found(source, 'a.ts'), [
    'a.ts:4 has "Mends". Write fix, correct.',
    'a.ts:6 has "is no list". Write is not an X, are not X.',
    'a.ts:7 has "are told". Write set, configured, given, informed.',
    'a.ts:8 has "is no list". Write is not an X, are not X.'
  ])
})

t.test('an exception can be limited to files', async (t) => {
  const limited = [{ pattern: 'mends fences', reason: 'an idiom', files: 'docs/*.md' }]
  t.strictSame(await wordsToAvoid('docs/a.md', 'It mends fences.', avoided, limited), [])
  t.equal((await wordsToAvoid('a.md', 'It mends fences.', avoided, limited)).length, 1)
})
