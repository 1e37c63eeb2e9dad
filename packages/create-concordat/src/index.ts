export { type Choices, chosenNames } from './choices.ts'
export { type Files, readTemplates } from './files.ts'
export { readFlags } from './flags.ts'
export { examples, Refusal, starter } from './project.ts'
