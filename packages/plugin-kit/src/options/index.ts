export {
  type DescribedOptions,
  describeOptions,
  type GivenOptions,
  type Option,
  type OptionMembers,
  type OptionPage,
  type OptionsOf,
  type SettingsOf
} from './describe-options.ts'
export { nearestName } from './nearest-name.ts'
export { optionChecks } from './option-checks.ts'
export {
  callback,
  duration,
  flag,
  group,
  headerName,
  instance,
  integer,
  number,
  oneOf,
  orFalse,
  type RequiredOption,
  required,
  value
} from './option-kinds.ts'
export { peerFault, requirePeers } from './optional-peers.ts'
export { weaknessOf } from './secret-strength.ts'
