export { type ContractCases, type RunTest, runCases } from './contract-testing.ts'
