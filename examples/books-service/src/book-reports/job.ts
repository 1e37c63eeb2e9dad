// [jobs] file
import { defineJob, type Job } from '@concordat/jobs'
import type { OpenDatabase } from '@concordat/postgres/open'

interface Report {
  readonly books: number
  readonly authors: number
}

/** Counts in the background. A job that takes longer reports its progress, and stops when its signal is aborted. */
export function bookReportJob(database: OpenDatabase): Job<object, Report> {
  return defineJob<object, Report>({
    name: 'book-report',
    input: { type: 'object' },
    result: {
      type: 'object',
      required: ['books', 'authors'],
      properties: { books: { type: 'integer' }, authors: { type: 'integer' } }
    },
    async handler() {
      const [report] = await database.query<Report>(
        'SELECT (SELECT count(*) FROM books) AS books, (SELECT count(*) FROM authors) AS authors'
      )
      return report as Report
    }
  })
}
