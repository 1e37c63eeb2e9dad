import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { avoidedWords, wordsToAvoid } from '../check-prose.ts'
import { repository } from '../workspace.ts'

const avoided = avoidedWords(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
const found = (text: string, file = 'a.md') => wordsToAvoid(file, text, avoided)

t.test('each phrase of the table is found, also inflected and with a word between, and nothing of its other column', async (t) => {
  t.ok(avoided.length > 10)
  for (const { words, instead } of avoided) {
    for (const phrase of words.replaceAll(/\(.*?\)|`/g, '').split(',')) t.equal(found(`So ${phrase.trim()}.`).length, 1, phrase)
    t.strictSame(found(`So ${instead}.`), [], instead)
  }
  for (const text of ['It mends itself.', 'It was also told.', 'They gave them up.', 'It must be no list.', 'It can’t.', 'By\nhand.'])
    t.equal(found(text).length, 1, text)
})

t.test('code in Markdown, names and what the check allows may have the words', async (t) => {
  for (const text of ['Call `mend()`.', '```\nmend it\n```', 'A hand-written by-hand list.', 'There is no list.', 'It is no longer there.'])
    t.strictSame(found(text), [], text)
  t.strictSame(found("const key = 'mend'", 'a.ts'), [])
})

t.test('a finding has its file, its line, the words and what to write, also across the lines of a comment', async (t) => {
  t.strictSame(found('One.\n\nTwo, and\nmend it.'), ['a.md:4 has "mend". Write fix, correct.'])
  t.strictSame(found("/**\n * Returns a.\n * Mends it.\n */\nf('they are told')\n  // It is no\n  // list.", 'a.ts'), [
    'a.ts:3 has "Mends". Write fix, correct.',
    'a.ts:5 has "are told". Write set, configured, given, informed.',
    'a.ts:6 has "is no list". Write is not an X, are not X.'
  ])
})
