/** Files within texts, as base64 or base64url, in one line or in lines as in mail. */

/** Characters of base64 that are a file where no `data:` says so. */
const minFile = 2_048;
const minDataUrl = 64;
/** Shorter lines are words, not a file's. */
const minLine = 40;

/** A text without the bytes of inline files. */
export function withoutFiles(text: string): string {
  let left = '';
  let from = 0;
  for (const { 0: head, index } of text.matchAll(/data:[^,:\s]{0,400};base64,/g)) {
    const start = index + head.length;
    if (index < from) continue;
    const end = endOfBase64(text, start);
    if (end - start < minDataUrl) continue;
    left += `${text.slice(from, start)}${leftOut(end - start)}`;
    from = end;
  }
  // Audio and files of OpenAI's form are base64 without a head.
  const end = from === 0 ? endOfBase64(text, 0) : 0;
  return end >= minFile ? `${leftOut(end)}${text.slice(end)}` : left + text.slice(from);
}

const leftOut = (count: number) => `[${count} characters left out]`;

/** Where the base64 that begins at `start` ends: all its lines but the last have one length. */
function endOfBase64(text: string, start: number): number {
  const run = (at: number) => endOf(/[\w+/=-]*/y, text, at);
  let end = run(start);
  const width = end - start;
  if (width < minLine) return end;
  for (let lines = 1; ; lines += 1) {
    const next = endOf(/(?:\r?\n[ \t]?)?/y, text, end);
    const stop = run(next);
    if (next === end || stop === next || stop - next > width) return end;
    if (stop - next === width) end = stop;
    // A short line is the last one, if it looks like the end of a file rather than like a word.
    else return text[stop - 1] === '=' || (lines > 1 && isLineEnd(text, stop)) ? stop : end;
  }
}

function isLineEnd(text: string, at: number): boolean {
  return at === text.length || /[\r\n"')>\]]/.test(text[at]!);
}

function endOf(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  sticky.test(text);
  return sticky.lastIndex;
}
