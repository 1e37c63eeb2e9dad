const maxAnswers = 500

/** Caches the results of a pure function of a string: those of the 500 most recent arguments. The oldest is removed first. */
export function rememberAnswers<Answer>(answer: (question: string) => Answer): (question: string) => Answer {
  const answers = new Map<string, Answer>()
  return (question) => {
    const known = answers.get(question)
    if (known !== undefined || answers.has(question)) return known as Answer
    const found = answer(question)
    if (answers.size === maxAnswers) answers.delete(answers.keys().next().value as string)
    answers.set(question, found)
    return found
  }
}
