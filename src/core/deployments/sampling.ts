/**
 * Whether an answer or episode is in a sample. `purpose`: samples of two purposes are independent.
 */
export function isInSample(purpose: 'log' | 'judge', id: string, rate: number): boolean {
  return shareOf(purpose === 'log' ? id : `${purpose} ${id}`) < rate;
}

/** A share of 0 to 1 that is always the same for a text, and even over texts. */
export function shareOf(text: string): number {
  // FNV-1a, then the last step of MurmurHash3: similar texts get unlike shares.
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
