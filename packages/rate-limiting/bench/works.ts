// pnpm bench rate-limiting: a small GET with limits of each kind, and with the official plugin, against a bare one.
const load = (address: string) => ({ url: `${address}/products/1` })

export const works = [
  { name: 'bare', server: ['bare'], load },
  ...['address', 'address-and-client', 'overload', 'official'].map((name) => ({ name, server: [name], against: 'bare', load }))
]
