/** The definitions of the errors of {@link hostErrorOf}, by error code, for the error lists of the packages that raise them. */
export const hostDefinitions = {
  MISSING_HOST: {
    statusCode: 400,
    message: {
      en: 'The Host header, which HTTP/1.1 requires, is missing. Send it.',
      es: 'Falta el encabezado Host, que HTTP/1.1 exige. Envíelo.'
    },
    remedy: 'Send the Host header.'
  },
  INVALID_HOST: {
    statusCode: 400,
    message: {
      en: 'The host of the request is empty or malformed. Send a host name or an address, with an optional port, in the Host header.',
      es: 'El host de la petición está vacío o mal formado. Envíe en el encabezado Host un nombre o una dirección, con un puerto opcional.'
    },
    remedy: 'Send Host as host or host:port, without user information, for example api.example.com.'
  }
} as const
