export { apiKeyStoreContract } from './api-key-store-contract.ts'
export { revocationStoreContract } from './revocation-store-contract.ts'
export type { TestKit } from './test-kit.ts'
export { testKit } from './test-kit.ts'
