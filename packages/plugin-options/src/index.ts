export { nearestName } from './nearest-name.ts'
export { type OptionNames, requireKnownNames, requirePluginNames } from './option-names.ts'
export { type OptionChecks, optionChecks } from './plugin-options.ts'
export { weaknessOf } from './secret-strength.ts'
