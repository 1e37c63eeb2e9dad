/** Every value that a Cookie header has for a name: there are two when somebody has planted one (RFC 6265 §5.4). */
export function cookieValues(header: string, name: string): readonly string[] {
  return header.split(';').flatMap((pair) => {
    const [key, ...rest] = pair.split('=')
    return (key as string).trim() === name ? [rest.join('=').trim()] : []
  })
}
