import { describeOptions, duration, type OptionsOf, oneOf, value } from '@concordat/plugin-options'

/** The default time limit of a handler, in seconds. */
export const defaultHandlerTimeoutSeconds = 30

/** The description of {@link TransportSecurityOptions}. */
export const transportSecurityOptions = describeOptions('transport-security', {
  /**
   * The hosts that are served, with their port if it is not the default; `*.example.com` is every direct subdomain. Other hosts get 421. Without a
   * list, every host is accepted and none is trusted.
   */
  allowedHosts: value<readonly string[]>({ default: [] }),
  /** The public URL of the service; its host is added to `allowedHosts` if there are any. */
  publicUrl: value<string>(),
  /** Accepts plain HTTP from this machine or from any client, for development: it logs a warning, and stops the start in production. */
  dangerouslyAllowHttp: oneOf(['loopback', true, false], { default: false }),
  /** Headers to replace or add, by name; `false` removes a header. */
  overrides: value<Readonly<Record<string, string | false>>>({ default: {} }),
  /** Names of fields, headers and parameters that are hidden in the log, besides credentials and what schemas mark. */
  hiddenFields: value<readonly string[]>({ default: [] }),
  /** What the log shows of a client's IP address: nothing, its network (IPv4 /24, IPv6 /48), or all of it. */
  remoteAddress: oneOf(['none', 'truncate', 'full'], { default: 'truncate' }),
  /** The time limit of a handler; after it, the response is 503. A route's own `handlerTimeout` takes precedence. */
  handlerTimeoutSeconds: duration({ default: defaultHandlerTimeoutSeconds, min: 0.001, max: 86_400 }),
  /** How long `app.close()` waits for pending responses. Keep it below the time after which the process is killed. */
  closeTimeoutSeconds: duration({ default: 8, min: 0.001, max: 86_400 }),
  /** How long an HTTP/1 client may read nothing of a pending response before its connection is closed. */
  sendTimeoutSeconds: duration({ default: 60, min: 0.001, max: 86_400 })
})

/** Options of `@concordat/transport-security`. */
export interface TransportSecurityOptions extends OptionsOf<typeof transportSecurityOptions> {}
