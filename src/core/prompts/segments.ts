/**
 * A prompt as a row of segments: sentences, of which every line has at least one. The cut depends on the place alone and
 * not on how long a line is, so that a sentence stays the same segment when its line grows.
 *
 * Invariants: joining the pieces gives back exactly the text; no piece is empty.
 */

// An end of a sentence: marks and closing signs, then white space that no lower-case letter follows ("e.g. this").
// In scripts without spaces the mark alone ends it. The look behind keeps the search linear in a long row of marks.
const sentenceEnd = /(?:(?<![.!?…])[.!?…]+["'”’)\]*_`]*(?=\s+[^\s\p{Ll}]))|(?:[。！？]+["'”’)\]」』]*)/gu;
const openEnded = /[。！？]["'”’)\]」』]*$/u;
// "1." and "b)" begin what follows.
const listMark = /^(?:\d{1,3}|\p{L})[.)]$/u;

/** Text and white space by turns: a sentence without the white space around it, or a run of white space. */
export function tokenize(text: string): string[] {
  return (text.match(/\s+|\S[^\n\r]*/gu) ?? []).flatMap((piece) => (isBlank(piece) ? [piece] : splitSentences(piece)));
}

/** Sentences, each with the white space after it, the first also with that before it. An empty text has none. */
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

/** Whether it is white space alone. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Whether another sentence may follow this token without white space between them. */
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
