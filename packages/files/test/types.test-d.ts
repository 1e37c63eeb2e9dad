import files, { type FilesOptions, memoryFileStore, type StoredFile } from '@concordat/files'
import { expectTypeOf } from 'expect-type'
import Fastify, { type FastifyTypeProvider } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'

interface TypeBox extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

const app = Fastify().withTypeProvider<TypeBox>()
app.register(files, { store: memoryFileStore() })
// @ts-expect-error a store is required
expectTypeOf<object>().toExtend<FilesOptions>()

app.post(
  '/photos',
  {
    schema: { body: Type.Object({ title: Type.String() }) },
    config: {
      upload: {
        cover: { types: ['image/png'], maxBytes: 5_000_000 },
        pages: { maxBytes: 5_000_000, maxFiles: 3 },
        extra: { maxBytes: 10, isOptional: true }
      }
    }
  },
  async ({ body, upload }, reply) => {
    expectTypeOf(body).toEqualTypeOf<{ title: string }>()
    expectTypeOf(upload.cover).toEqualTypeOf<StoredFile>()
    expectTypeOf(upload.pages).toEqualTypeOf<readonly StoredFile[]>()
    expectTypeOf(upload.extra).toEqualTypeOf<StoredFile | undefined>()
    // @ts-expect-error the route declares no such file
    void upload.photo
    // @ts-expect-error an unknown option
    void reply.file(upload.cover, { filename: 'a' })
    return reply.file(upload.cover, { name: 'a.png', inline: true })
  }
)

app.get('/', async ({ upload }) => {
  expectTypeOf(upload['cover']).toEqualTypeOf<StoredFile | readonly StoredFile[] | undefined>()
})
