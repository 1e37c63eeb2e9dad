/// <reference types="fastify" preserve="true" />

export type { StepRoute } from './step-route.ts'
export {
  chain,
  composeSteps,
  type ParsingStep,
  type Plan,
  planStep,
  type RequestStep,
  type SendStep,
  type Stage,
  stepHook
} from './steps.ts'
export { varyWith } from './vary.ts'
export { warnWithoutRoutes } from './without-routes.ts'
