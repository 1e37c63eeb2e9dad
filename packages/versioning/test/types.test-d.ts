export const compiled = true
