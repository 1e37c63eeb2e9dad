export { chooseMediaType, json, prefersType } from './accept.ts'
export { listElements, maxHeaderLength, memoize, weightOf } from './header-list.ts'
export { isUtf8, type MediaType, parseMediaType } from './media-type.ts'
