import { defineErrors } from '@concordat/conventions'

export const imageErrors = defineErrors(
  {
    INVALID_IMAGE: {
      statusCode: 422,
      message: {
        en: 'The body is not a valid image of the type in Content-Type. Send a PNG or JPEG file with the matching Content-Type.',
        es: 'El cuerpo no es una imagen válida del tipo que indica Content-Type. Envíe un archivo PNG o JPEG con el Content-Type correspondiente.'
      },
      remedy: 'Send the bytes of a PNG file as image/png, or of a JPEG file as image/jpeg.'
    }
  },
  { notThisType: { en: 'is not a valid {mediaType}', es: 'no es un {mediaType} válido' } }
)
