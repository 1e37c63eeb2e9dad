export { isKnownLanguage, problemOf, requireMessages } from './check-messages.ts'
export { defineTexts, type TextList } from './define-texts.ts'
export { likelyTags, lookupTags } from './lookup.ts'
export {
  fileKeysOf,
  fillTemplate,
  formsOf,
  type Messages,
  type Params,
  type PluralText,
  pluralCategories,
  type TemplateParams,
  type Text
} from './text.ts'
