import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CatalogueEntry, TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { failureOf } from '../failures/failure.ts'
import { factsOfRaw, type RequestFacts } from '../responses/error-response.ts'
import { writeResponse } from '../responses/raw-response.ts'
import type { Responder } from '../responses/responder.ts'
import { respondToRefusedUrl } from './server-options.ts'
import { installWire } from './wire.ts'

/** Responds to what fails before a request has a route: bytes that are not HTTP, and URLs that the router refuses. */
export function coverServer(app: FastifyInstance, catalogue: TranslatedCatalogue, responder: Responder, isSet: boolean): void {
  app.decorate(respondToRefusedUrl, respondToRefused)
  installWire(app, wireResponse, isSet)

  function wireResponse(code: string, facts: RequestFacts, cause?: unknown) {
    const failure = failureOf(catalogue.find(code) as CatalogueEntry)
    if (cause === undefined) return responder.bare(failure, facts)
    // Such a request may have no id, and its error may come from the function that creates ids.
    const reqId = randomUUID()
    app.log.error({ err: cause, reqId }, 'error-catalogue: a request failed before routing')
    return responder.bare({ ...failure, headers: { 'request-id': reqId } }, facts)
  }

  function respondToRefused(error: Error, request: FastifyRequest, reply: FastifyReply) {
    writeResponse(request.raw, reply.raw, responder.bare(responder.failureOn(reply, error), { ...factsOfRaw(request.raw), request }))
  }
}
