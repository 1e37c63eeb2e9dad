/// <reference types="fastify" preserve="true" />

export { inTurn } from './in-turn.ts'
export {
  controlOf,
  emitClose,
  guardResponse,
  outliveBody,
  queuedBytesOf,
  type ResponseGuard,
  type ServerControl,
  serverFactory
} from './server.ts'
