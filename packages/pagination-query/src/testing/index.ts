export type { OpenSample } from './adapter-contract.ts'
export { adapterContract } from './adapter-contract.ts'
export type { SampleRow } from './sample-rows.ts'
export { createSampleTable } from './sample-rows.ts'
