export const placeholder: true = true
