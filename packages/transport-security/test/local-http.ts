/** Tests speak plain HTTP from this machine. */
export const localHttp: { readonly dangerouslyAllowHttp: 'loopback' } = { dangerouslyAllowHttp: 'loopback' }
