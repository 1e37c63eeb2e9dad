import type { Messages } from '@concordat/plugin-kit/texts'

/** The messages of invalid fields, by the JSON Schema keyword that failed. */
export const fieldMessages: Readonly<Record<string, Messages>> = {
  required: { en: 'is required', es: 'es obligatorio' },
  unknownProperty: { en: 'is not a known field', es: 'no es un campo conocido' },
  type: { en: 'must be of type {type}', es: 'debe ser de tipo {type}' },
  enum: { en: 'must be one of: {allowed}', es: 'debe ser uno de: {allowed}' },
  typeOrEnum: {
    en: 'must be of type {type}, or one of: {allowed}',
    es: 'debe ser de tipo {type}, o uno de: {allowed}'
  },
  noAlternative: {
    en: 'must match one of its alternatives: fix the errors of one of them',
    es: 'debe cumplir una de sus alternativas: corrija los errores de una de ellas'
  },
  severalAlternatives: {
    en: 'must match exactly one of its alternatives, but matches several',
    es: 'debe cumplir exactamente una de sus alternativas, pero cumple varias'
  },
  format: { en: 'must have the format {format}', es: 'debe tener el formato {format}' },
  pattern: { en: 'must match the pattern {pattern}', es: 'debe cumplir el patrón {pattern}' },
  minLength: {
    en: { plural: 'limit', one: 'must have at least {limit, number} character', other: 'must have at least {limit, number} characters' },
    es: {
      plural: 'limit',
      one: 'debe tener al menos {limit, number} carácter',
      many: 'debe tener al menos {limit, number} de caracteres',
      other: 'debe tener al menos {limit, number} caracteres'
    }
  },
  maxLength: {
    en: { plural: 'limit', one: 'must have at most {limit, number} character', other: 'must have at most {limit, number} characters' },
    es: {
      plural: 'limit',
      one: 'debe tener como máximo {limit, number} carácter',
      many: 'debe tener como máximo {limit, number} de caracteres',
      other: 'debe tener como máximo {limit, number} caracteres'
    }
  },
  minimum: { en: 'must be at least {limit}', es: 'debe ser al menos {limit}' },
  maximum: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' },
  exclusiveMinimum: { en: 'must be greater than {limit}', es: 'debe ser mayor que {limit}' },
  exclusiveMaximum: { en: 'must be less than {limit}', es: 'debe ser menor que {limit}' },
  multipleOf: { en: 'must be a multiple of {multipleOf}', es: 'debe ser múltiplo de {multipleOf}' },
  minItems: {
    en: { plural: 'limit', one: 'must have at least {limit, number} item', other: 'must have at least {limit, number} items' },
    es: {
      plural: 'limit',
      one: 'debe tener al menos {limit, number} elemento',
      many: 'debe tener al menos {limit, number} de elementos',
      other: 'debe tener al menos {limit, number} elementos'
    }
  },
  maxItems: {
    en: { plural: 'limit', one: 'must have at most {limit, number} item', other: 'must have at most {limit, number} items' },
    es: {
      plural: 'limit',
      one: 'debe tener como máximo {limit, number} elemento',
      many: 'debe tener como máximo {limit, number} de elementos',
      other: 'debe tener como máximo {limit, number} elementos'
    }
  },
  uniqueItems: { en: 'must not repeat an item', es: 'no debe repetir ningún elemento' },
  minProperties: {
    en: { plural: 'limit', one: 'must have at least {limit, number} field', other: 'must have at least {limit, number} fields' },
    es: {
      plural: 'limit',
      one: 'debe tener al menos {limit, number} campo',
      many: 'debe tener al menos {limit, number} de campos',
      other: 'debe tener al menos {limit, number} campos'
    }
  },
  maxProperties: {
    en: { plural: 'limit', one: 'must have at most {limit, number} field', other: 'must have at most {limit, number} fields' },
    es: {
      plural: 'limit',
      one: 'debe tener como máximo {limit, number} campo',
      many: 'debe tener como máximo {limit, number} de campos',
      other: 'debe tener como máximo {limit, number} campos'
    }
  },
  character: {
    en: 'must not contain a NUL character or an unpaired surrogate',
    es: 'no debe contener el carácter NUL ni sustitutos UTF-16 sin pareja'
  },
  precision: {
    en: 'must be within the range and the precision of 64-bit floating-point numbers',
    es: 'debe estar dentro del rango y la precisión de los números de coma flotante de 64 bits'
  },
  invalid: { en: 'is invalid', es: 'no es válido' }
}
