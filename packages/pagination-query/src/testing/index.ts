export { type AdapterContractOptions, adapterContract, type OpenSample } from './adapter-contract.ts'
export type { SampleQuery } from './sample-queries.ts'
export { createSampleTable, type SampleRow } from './sample-rows.ts'
