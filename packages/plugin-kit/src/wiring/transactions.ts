import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The transaction of a request for code around its handler, such as a gate that stores responses. The code that created it ends it: with COMMIT
 * once the response is final, with ROLLBACK on a status of 500 or more and on anything that was thrown.
 */
export interface RequestTransaction {
  /**
   * Registers `work` to run once, with the response as it will be sent, as the last step before COMMIT: after the hooks that format the response
   * and, if the status code is 400 or more, after the domain writes are rolled back to their savepoint. It does not run in a transaction that is
   * rolled back. When it rejects, the transaction is rolled back and the request fails with its error.
   */
  beforeCommit(work: (reply: FastifyReply, payload: unknown) => Promise<void> | undefined): void
  /**
   * Whether it is known that nothing of the transaction was or will be committed. `false` also if the connection was lost during COMMIT, because its
   * outcome is unknown then. @default unknown
   */
  readonly isRolledBack?: boolean | undefined
  /**
   * Calls the function once the outcome of the request is final: at once, or when the transaction ends that it shares with the request that
   * injected it. It is not called for a run that is repeated after a conflict. @default at once
   */
  readonly whenFinal?: ((callback: () => void) => void) | undefined
}

/**
 * The transactions of a service: each request to a route with `config.transaction` runs in one. The plugin that runs them publishes this contract.
 * `HandlerTransaction` is what a handler gets.
 */
export interface Transactions<HandlerTransaction = unknown> {
  /** Returns the transaction of a request, or `undefined` on a route without a transaction. */
  readonly transactionOf: (request: FastifyRequest) => RequestTransaction | undefined
  /** Returns the transaction of the calling handler, or `undefined` outside a transaction. */
  readonly currentTransaction: () => HandlerTransaction | undefined
  /** Returns whether requests to the same route already wait too long for a connection. */
  readonly isCongested?: ((request: FastifyRequest) => boolean) | undefined
  /**
   * Runs `work` in one transaction that includes the requests that `work` injects; the transaction is committed when `work` resolves,
   * otherwise rolled back. Without it, no batch is atomic.
   */
  readonly runAsOne?: (<Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>) | undefined
}

/** The idempotency key under which a request runs, for a handler whose response contains the responses to further requests. */
export interface RequestKey {
  /** Returns a key for a further request, the same for every attempt. Use a separate label for each. */
  derivedKey(label: string): string
  /** What an earlier attempt has stored. While it is set, it is stored instead of the response, and a retry runs the handler again. */
  progress: string | undefined
  /** The body that is stored instead of the response, if it differs. */
  storedBody: string | undefined
  /** Returns the form in which the body of another response is stored: without secrets, for example. `''` if nothing of it is stored. */
  storedForm(body: string, request: FastifyRequest, status: number): string
  /** Makes the key free when the response has been sent. */
  release(): void
}
