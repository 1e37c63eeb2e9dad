// node tag-process.ts <seed> <count> <timestamp>: prints a hash of the tags of that many documents, and each tag.
import { createHash } from 'node:crypto'
import { sample } from 'fast-check'
import { documents, taggingService } from './tagged-documents.ts'

const [seed = '', count = '', timestamp = ''] = process.argv.slice(2)
const { tagOf } = await taggingService()
const tags: string[] = []
for (const document of sample(documents, { seed: Number(seed), numRuns: Number(count) })) tags.push(await tagOf(document, timestamp))
process.stdout.write(
  JSON.stringify({ version: process.version, hash: createHash('sha256').update(tags.join()).digest('hex'), tags: tags.slice(0, 5) })
)
