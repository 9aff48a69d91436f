/** What is looked at of a text. */
type Chars = Pick<string, 'length' | 'charCodeAt'>;

/**
 * The places at which `part`, which is not empty, stands in a text, ascending; those that overlap are all there. After Knuth, Morris and Pratt:
 * however the two are made, the characters looked at are a small multiple of their lengths. (`indexOf` compares the part anew at each place.)
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

/** For each beginning of a text: how long the longest shorter beginning is with which it also ends. */
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
