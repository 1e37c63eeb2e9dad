/** The option for tests, which use plain HTTP from this machine. */
export const localHttp: { readonly dangerouslyAllowHttp: 'loopback' } = { dangerouslyAllowHttp: 'loopback' }
