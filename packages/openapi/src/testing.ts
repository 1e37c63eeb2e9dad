export type { Answer, AnswerChecker, AnswerCheckOptions } from './answer-check.ts'
export { answerChecker } from './answer-check.ts'
