// About what a record takes in the table and its indexes, without the response.
const recordBytes = 300
const minRecordBytes = 1024
const minCountedBytes = 16_384

/**
 * Returns the size with which a response of so many bytes is counted for its client, or undefined for one that is not counted. A small one is counted
 * with the smallest size and the probability of its share in it: the sum is right on average, and most small responses write no second row.
 */
export function countedSize(bytes: number): number | undefined {
  const size = Math.max(recordBytes + bytes, minRecordBytes)
  return Math.random() * minCountedBytes < size ? Math.max(size, minCountedBytes) : undefined
}
