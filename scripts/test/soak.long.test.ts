import { join } from 'node:path'
import t from 'tap'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const skip = process.env['TEST_NGINX'] === undefined && 'install nginx'

t.test('two minutes of a bad day lose, double and reveal nothing', { skip }, async (t) => {
  const words = ['--conditions=@concordat/source', join(repository, 'proofs/soak/run.ts'), '--minutes', '2', '--rate', '12']
  const { code, output } = await run(process.execPath, words)
  t.equal(code, 0, output)
})
