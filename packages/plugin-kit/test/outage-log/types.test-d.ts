import type { outageLog } from '@concordat/plugin-kit/outage-log'
import { expectTypeOf } from 'expect-type'

expectTypeOf<ReturnType<typeof outageLog>>().parameter(1).toEqualTypeOf<string>()
