import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { concordat, project, workshop } from '@concordat/test-harness/generated-project'
import t from 'tap'

/** Returns the contents of the files below a folder, by path. Links are not followed. */
function contentsOf(folder: string) {
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => join(parentPath, name)).map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')])
  )
}

t.test('nothing is written through a link, whichever of the written paths it is', async (t) => {
  const path = workshop(t)
  const outside = join(path, 'outside')
  mkdirSync(outside)
  const original = await project(path, 'shop', '--with', 'auth')
  const before = contentsOf(original)
  for (const args of [
    ['resource', 'reviews'],
    ['version', '2']
  ]) {
    const trial = join(path, 'trial')
    cpSync(original, trial, { recursive: true })
    t.match(await concordat(trial, 'add', ...args), { code: 0 })
    const written = [...contentsOf(trial)].filter(([file, text]) => before.get(file) !== text).map(([file]) => file)
    t.ok(written.length >= 4, written.join(', '))
    const places = new Set(written.flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))))
    for (const place of places) {
      for (const one of [trial, outside]) rmSync(one, { recursive: true })
      cpSync(original, trial, { recursive: true })
      mkdirSync(outside)
      const [link, target] = [join(trial, place), join(outside, 'target')]
      mkdirSync(dirname(link), { recursive: true })
      // What does not exist yet is a folder, or a link that leads to nothing.
      if (statSync(link, { throwIfNoEntry: false })) renameSync(link, target)
      else if (!written.includes(place)) mkdirSync(target)
      symlinkSync(target, link)
      const state = [contentsOf(outside), contentsOf(trial)]
      const { code, err } = await concordat(trial, 'add', ...args)
      t.equal(code, 2)
      // A migration is read before, and a folder of the resource is there already.
      const faults = [
        `${place} is a symbolic link, so the command would write elsewhere.`,
        `${place} does not exist.`,
        'src/reviews already exists.'
      ]
      t.ok(
        faults.some((fault) => err.startsWith(fault)),
        err
      )
      t.strictSame([contentsOf(outside), contentsOf(trial)], state, place)
    }
    rmSync(trial, { recursive: true })
  }
})

t.test('files beside those that are written stay, links too, and an edited file keeps its rights', async (t) => {
  const path = workshop(t)
  const folder = await project(path, 'shop')
  writeFileSync(join(path, 'outside'), 'mine')
  symlinkSync(join(path, 'outside'), join(folder, 'src/app.ts.new'))
  writeFileSync(join(folder, 'src/main.ts.new'), 'mine')
  chmodSync(join(folder, 'src/app.ts'), 0o600)
  t.match(await concordat(folder, 'add', 'version', '2'), { code: 0, err: '' })
  t.strictSame([readFileSync(join(path, 'outside'), 'utf8'), readFileSync(join(folder, 'src/main.ts.new'), 'utf8')], ['mine', 'mine'])
  t.equal(statSync(join(folder, 'src/app.ts')).mode & 0o777, 0o600)
})
