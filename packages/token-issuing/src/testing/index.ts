export { loginAttemptStoreContract } from './login-attempt-store-contract.ts'
export { refreshTokenStoreContract } from './refresh-token-store-contract.ts'
