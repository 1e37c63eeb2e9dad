/** Returns every value of the named cookie in a Cookie header; with more than one value, another site may have set the cookie (RFC 6265 §5.4). */
export function cookieValues(header: string, name: string): readonly string[] {
  return header.split(';').flatMap((pair) => {
    const [key, ...rest] = pair.split('=')
    return (key as string).trim() === name ? [rest.join('=').trim()] : []
  })
}
