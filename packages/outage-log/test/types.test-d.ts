import { type OutageLogger, outageLog, type ReportFailure } from '@concordat/outage-log'
import { expectTypeOf } from 'expect-type'

expectTypeOf(outageLog).toEqualTypeOf<(log: OutageLogger) => ReportFailure>()
expectTypeOf<ReportFailure>().parameter(1).toEqualTypeOf<string>()
