import { isObject, type JsonSchema, valueAt } from '@concordat/plugin-kit/json-schema'
import { expectTypeOf } from 'expect-type'

const value: unknown = {}
if (isObject(value)) expectTypeOf(value).toEqualTypeOf<JsonSchema>()
expectTypeOf(valueAt({}, '/a')).toEqualTypeOf<unknown>()
