/** The messages of invalid fields, by key. */
export const fieldMessages = {
  text: {
    en: {
      plural: 'maximum',
      one: 'must be a string of {maximum, number} character, without NUL and unpaired surrogates',
      other: 'must be a string of 1 to {maximum, number} characters, without NUL and unpaired surrogates'
    },
    es: {
      plural: 'maximum',
      one: 'debe ser una cadena de {maximum, number} carácter, sin NUL ni sustitutos UTF-16 sin pareja',
      many: 'debe ser una cadena de 1 a {maximum, number} de caracteres, sin NUL ni sustitutos UTF-16 sin pareja',
      other: 'debe ser una cadena de 1 a {maximum, number} caracteres, sin NUL ni sustitutos UTF-16 sin pareja'
    }
  },
  notBoth: {
    en: 'must not be sent together with `username` or `password`',
    es: 'no debe enviarse junto con `username` o `password`'
  },
  resetToken: { en: 'is invalid, has expired or was used', es: 'no es válido, ha caducado o ya se usó' },
  passwordTooShort: {
    en: {
      plural: 'minimum',
      one: 'must have at least {minimum, number} character',
      other: 'must have at least {minimum, number} characters'
    },
    es: {
      plural: 'minimum',
      one: 'debe tener al menos {minimum, number} carácter',
      many: 'debe tener al menos {minimum, number} de caracteres',
      other: 'debe tener al menos {minimum, number} caracteres'
    }
  },
  passwordTooLong: {
    en: {
      plural: 'maximum',
      one: 'must have at most {maximum, number} character',
      other: 'must have at most {maximum, number} characters'
    },
    es: {
      plural: 'maximum',
      one: 'debe tener como máximo {maximum, number} carácter',
      many: 'debe tener como máximo {maximum, number} de caracteres',
      other: 'debe tener como máximo {maximum, number} caracteres'
    }
  },
  passwordIllFormed: { en: 'must be well-formed Unicode', es: 'debe ser Unicode bien formado' }
} as const
