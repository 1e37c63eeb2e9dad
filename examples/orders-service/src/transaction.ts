/** The option `config.transaction` of routes whose effects are all in the transaction: a transaction that loses a race runs again. */
export const transaction = { maxRetries: 2 }
