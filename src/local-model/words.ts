/** Words, stems and tokens: the `local` provider's only knowledge of English. */

/** The most common English words and qualifiers: they say nothing about a message's subject. */
const commonWords = new Set(
  `a about after again all also although always am an and any anything are as at back be because been before being both but by
  came can cannot come could day days did do does doing done don down even ever every few for from get gets getting give given
  go goes going gone good got had happen happened has have having he hello help her here hers hey hi him his how however i if in
  into is it its just kindly know last let like ll look looks made make makes many may me might mine month months more most much
  must my need needs never new no nor not nothing now of off ok on once one only or other our out over own per perhaps please
  pls put re really s said same saw say says see seem seems she should show shows since so some someone something still such sure
  t take taken takes tell than thank thanks that the their them then there these they thing things think this those though time
  to today told tomorrow too took tried try trying two u until up upon us use used using ve very want wants was way we week weeks
  well went were what when where whether which while who whom whose why will with without won would year years yes yesterday yet
  you your yours
  ain aren couldn didn doesn hadn hasn haven isn mustn needn shan shouldn wasn weren wouldn
  especially except mainly mostly often sometimes unlike usually`.split(/\s+/),
);

const suffixes = [
  'ations',
  'ation',
  'ments',
  'ings',
  'ment',
  'ing',
  'ies',
  'ied',
  'ers',
  'ed',
  'es',
  'er',
  'ly',
  's',
  'y',
  'e',
];

/** Lower-case words of letters and digits in order, in one pass. */
export function splitWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** A word without its English ending (`charged`, `charges` and `charging` give one stem). */
export function stem(word: string): string {
  for (const suffix of suffixes) {
    const rest = word.length - suffix.length;
    if (rest < 3 || !word.endsWith(suffix)) continue;
    const doubled = rest > 3 && word[rest - 1] === word[rest - 2];
    return word.slice(0, doubled ? rest - 1 : rest);
  }
  return word;
}

/** Whether a word says nothing about a subject: too short, a common word, or a number. */
export function isCommon(word: string): boolean {
  return word.length < 2 || commonWords.has(word) || /^\p{N}+$/u.test(word);
}

/** The distinct stems of a text's significant words, each with its first form. */
export function tellingStems(text: string): Map<string, string> {
  const stems = new Map<string, string>();
  for (const word of splitWords(text)) {
    if (isCommon(word)) continue;
    const key = stem(word);
    if (!stems.has(key)) stems.set(key, word);
  }
  return stems;
}

/** Whether two stems of at least five letters differ by one typing error, or one is a prefix. */
export function similar(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < 5 || long.length - short.length > 2) return false;
  if (long.startsWith(short)) return true;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  let end = 0;
  while (end < short.length - start && short[short.length - 1 - end] === long[long.length - 1 - end]) end += 1;
  const left = short.length - start - end;
  if (long.length - start - end <= 1) return true;
  const swapped = left === 2 && short[start] === long[start + 1] && short[start + 1] === long[start];
  return long.length === short.length && swapped;
}

/** Tokens: pieces of at most six letters or digits, and each other visible sign. */
export function countTokens(text: string): number {
  return text.match(/[\p{L}\p{N}]{1,6}|[^\s\p{L}\p{N}]/gu)?.length ?? 0;
}

/** The first `tokens` tokens of a text, counted as by `countTokens`. */
export function firstTokens(text: string, tokens: number): string {
  let left = tokens;
  for (const match of text.matchAll(/[\p{L}\p{N}]{1,6}|[^\s\p{L}\p{N}]/gu)) {
    if (left === 0) return text.slice(0, match.index).trimEnd();
    left -= 1;
  }
  return text;
}

/** FNV-1a over UTF-16 units: breaks ties identically on every machine. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
