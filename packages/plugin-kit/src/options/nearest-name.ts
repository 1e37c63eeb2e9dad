const longest = 40

/**
 * Returns the candidate most similar to a name, if their edit distance is at most `maxDistance` and at most half the length of the name. Names that
 * differ only in case have the distance 0.
 */
export function nearestName(name: string, candidates: Iterable<string>, maxDistance = 2): string | undefined {
  if (name.length > longest) return undefined
  let nearest: string | undefined
  let least = Math.min(maxDistance, Math.floor(name.length / 2)) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

// The simple form of the Damerau-Levenshtein distance: a swap of neighbouring characters counts as a single error.
function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row[j] = Math.min(at(last, j) + 1, at(row, j - 1) + 1, substitution)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(at(row, j), at(before, j - 2) + 1)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

function at(values: readonly number[], index: number) {
  return values[index] as number
}
