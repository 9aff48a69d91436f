type Chars = Pick<string, 'length' | 'charCodeAt'>;

/**
 * The indexes, ascending and with overlaps, at which the non-empty `part` occurs in a text.
 * Knuth-Morris-Pratt: linear time, whereas `indexOf` compares the whole part at each index.
 */
export function* findOccurrences(part: Chars, text: Chars): Generator<number> {
  if (part.length > text.length) return;
  const borders = borderLengths(part);
  let matched = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== char) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === char) matched += 1;
    if (matched < part.length) continue;
    yield at + 1 - matched;
    matched = borders[matched - 1]!;
  }
}

/** For each prefix of a text the length of its longest proper prefix that is also its suffix. */
function borderLengths(part: Chars): Uint32Array {
  const borders = new Uint32Array(part.length);
  let matched = 0;
  for (let at = 1; at < part.length; at += 1) {
    const char = part.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== char) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === char) matched += 1;
    borders[at] = matched;
  }
  return borders;
}
