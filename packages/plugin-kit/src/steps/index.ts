/// <reference types="fastify" preserve="true" />

export type { StepRoute } from './step-route.ts'
export { addStep, chain, composeSteps, type ParsingStep, type RequestStep, type SendStep, type Stage, stepHook } from './steps.ts'
export { warnWithoutRoutes } from './without-routes.ts'
