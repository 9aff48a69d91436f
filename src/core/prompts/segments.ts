/**
 * Splits a prompt into sentences, at least one per line. A split depends on its position, not on
 * the line's length, so a sentence stays the same when its line grows.
 * Invariants: the joined pieces equal the text; no piece is empty.
 */

// The end of a sentence: marks and closing signs, then white space not followed by a lower-case
// letter ("e.g. this"); in scripts without spaces the mark alone. The lookbehind keeps it linear.
const sentenceEnd = /(?:(?<![.!?…])[.!?…]+["'”’)\]*_`]*(?=\s+[^\s\p{Ll}]))|(?:[。！？]+["'”’)\]」』]*)/gu;
const openEnded = /[。！？]["'”’)\]」』]*$/u;
// "1." and "b)" begin the next sentence.
const listMark = /^(?:\d{1,3}|\p{L})[.)]$/u;

/** Alternating tokens: sentences without surrounding white space, and runs of white space. */
export function tokenize(text: string): string[] {
  return (text.match(/\s+|\S[^\n\r]*/gu) ?? []).flatMap((piece) => (isBlank(piece) ? [piece] : splitSentences(piece)));
}

/** Sentences with the white space after them, the first also with that before it. */
export function splitSegments(text: string): string[] {
  const segments: string[] = [];
  let before = '';
  for (const token of tokenize(text)) {
    if (!isBlank(token)) segments.push(before + token);
    else if (segments.length > 0) segments[segments.length - 1] += token;
    before = segments.length === 0 ? token : '';
  }
  return before === '' ? segments : [before];
}

export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Whether a sentence may follow this token without white space. */
export function needsNoSpace(token: string): boolean {
  return isBlank(token) || openEnded.test(token);
}

function splitSentences(line: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  const cut = (to: number) => {
    const piece = line.slice(from, to);
    const text = piece.trim();
    const start = piece.length - piece.trimStart().length;
    for (const part of [piece.slice(0, start), text, piece.slice(start + text.length)]) if (part) pieces.push(part);
    from = to;
  };
  for (const { index, 0: end } of line.matchAll(sentenceEnd)) {
    if (!listMark.test(line.slice(from, index + end.length).trim())) cut(index + end.length);
  }
  cut(line.length);
  return pieces;
}
