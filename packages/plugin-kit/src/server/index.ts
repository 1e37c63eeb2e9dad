/// <reference types="fastify" preserve="true" />

export { inTurn } from './in-turn.ts'
export { controlOf, type ServerControl, serverFactory } from './server.ts'
