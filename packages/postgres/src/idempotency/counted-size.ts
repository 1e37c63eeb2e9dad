// About what a record takes in the table and its indexes, without the response.
const recordBytes = 300

// What a record counts at least.
const minRecordBytes = 1024

// The smallest size that is counted.
const minBytes = 16_384

/**
 * Returns the size with which a response of so many bytes is counted for its client, or undefined for a response that is not counted. A small
 * one is counted with the smallest size and a probability of its own size in relation to it. So the sum is right on average, no client can
 * foresee what is counted, most small responses write no second row, and a claim adds up few rows: at most 8192 for 128 MiB.
 */
export function countedSize(bytes: number): number | undefined {
  const size = Math.max(recordBytes + bytes, minRecordBytes)
  return Math.random() * minBytes < size ? Math.max(size, minBytes) : undefined
}
