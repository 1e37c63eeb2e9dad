/** Returns every value of a cookie in a Cookie header: two values mean that another site may have set one (RFC 6265 §5.4). */
export function cookieValues(header: string, name: string): readonly string[] {
  return header.split(';').flatMap((pair) => {
    const [key, ...rest] = pair.split('=')
    return (key as string).trim() === name ? [rest.join('=').trim()] : []
  })
}
