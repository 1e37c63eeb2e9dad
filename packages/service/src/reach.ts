import { isIP } from 'node:net'
import type { Values } from './variables.ts'

/** Returns whether only this machine can reach the service. Behind a proxy on another machine, every client can. */
export function isReachedLocally(values: Values): boolean {
  return (
    (values.HOST === 'localhost' || isLoopback(values.HOST)) &&
    values.TRUST_PROXY.every((range) => range === 'loopback' || isLoopback(range))
  )
}

/** Returns the URL that the service listens on. A client cannot use a wildcard address, or a port that is not known yet. */
export function listeningUrl({ HOST, PORT }: Values): string | undefined {
  if (PORT === 0 || ['0.0.0.0', '::'].includes(HOST)) return undefined
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
}

// A shorter prefix than that of 127.0.0.0/8 includes other machines.
function isLoopback(range: string) {
  const [address = '', size] = range.split('/')
  if (isIP(address) === 4) return address.startsWith('127.') && Number(size ?? 32) >= 8
  return address === '::1' && Number(size ?? 128) === 128
}
