/** The same in the process that signs and in those that verify. */
export const tokenOptions = {
  issuer: 'https://tokens.example.com',
  audience: 'products',
  keys: [{ kid: 'bench', algorithm: 'HS256', secret: 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE' }]
} as const
