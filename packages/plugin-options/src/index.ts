export { type OptionChecks, optionChecks } from './plugin-options.ts'
