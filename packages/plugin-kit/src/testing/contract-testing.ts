/** Registers a test with the caller's test runner, such as `test` of `node:test`, or `(title, run) => t.test(title, run)` of tap. */
export type RunTest = (title: string, run: () => Promise<void>) => unknown

/** The cases of a contract, by title. Each gets what `begin` of {@link runCases} returns. */
export type ContractCases<Scene> = Readonly<Record<string, (scene: Scene) => void | Promise<void>>>

/** Registers a test for each case of a contract. `begin` creates what a case needs, for each case again. */
export function runCases<Scene>(test: RunTest, cases: ContractCases<Scene>, begin: () => Scene | Promise<Scene>): void {
  for (const [title, run] of Object.entries(cases)) test(title, async () => run(await begin()))
}
