import { describeOptions, duration, type OptionsOf, oneOf, value } from '@concordat/plugin-kit/options'

/** The description of {@link TransportSecurityOptions}. */
export const transportSecurityOptions = describeOptions('transport-security', {
  /** The hosts that are served, such as `api.example.com` or `*.example.com`; others get 421. Without a list all are, or with `dangerouslyAllowHttp: 'loopback'` loopback names. */
  allowedHosts: value<readonly string[]>({ default: [] }),
  /** The public URL of the service, whose host is added to the list. */
  publicUrl: value<string>(),
  /** Accepts plain HTTP: `'loopback'` from clients on this machine, without a proxy; `true` from any. For development only: it stops the start in production. */
  dangerouslyAllowHttp: oneOf(['loopback', true, false], { default: false }),
  /** Headers to replace or add, by name; `false` removes a header. */
  overrides: value<Readonly<Record<string, string | false>>>({ default: {} }),
  /** Names whose values are hidden in the log, besides credentials and what schemas mark. Operators add a name when a secret has appeared in the log. */
  hiddenFields: value<readonly string[]>({ default: [] }),
  /** How much of a client's IP address the log shows; `truncate`: its network (IPv4 /24, IPv6 /48). */
  remoteAddress: oneOf(['none', 'truncate', 'full'], { default: 'truncate' }),
  /** The time limit of a handler, unless the route has a `handlerTimeout`; then 503. Operators raise it while a service behind this one is slow. */
  handlerTimeoutSeconds: duration({ default: 30, min: 0.001, max: 86_400 }),
  /** How long `app.close()` waits for pending responses; less than the time after which the process is killed. Operators raise it while deployments cut responses off. */
  closeTimeoutSeconds: duration({ default: 8, min: 0.001, max: 86_400 }),
  /** How long a client may read nothing of a response before its connection is reset. Operators lower it while slow clients hold connections. */
  sendTimeoutSeconds: duration({ default: 60, min: 0.001, max: 86_400 })
})

/** Options of `@concordat/transport-security`. */
export interface TransportSecurityOptions extends OptionsOf<typeof transportSecurityOptions> {}
