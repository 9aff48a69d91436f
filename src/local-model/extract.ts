/** Extracts a piece of the text with the shape of an example, or of a kind in the prompt. */

const likeExample = /\b(?:like|such as|e\.g\.|for example|looks like|shape)\W{0,8}[`"“]([^`"”\n]{2,80})[`"”]/gi;
const moreExamples = /^\s*(?:,|or|and)\s*[`"“]([^`"”\n]{2,80})[`"”]/i;

const kinds: { word: RegExp; piece: RegExp }[] = [
  { word: /\be-?mail\b/i, piece: /^[^@]+@[^@]+\.\p{L}+$/u },
  { word: /\b(?:url|link|web address)\b/i, piece: /^https?:\/\/./i },
  { word: /\b(?:date|day)\b/i, piece: /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$/ },
  { word: /\b(?:amount|price|sum|total|cost)\b/i, piece: /^[$€£]?\d+(?:[.,]\d+)*[$€£]?$/ },
  { word: /\b(?:number|id|code|reference)\b/i, piece: /\d/ },
];

const maxPiece = 200;

/** The first matching piece; null: the prompt names nothing to look for. */
export function extract(prompt: string, text: string): string | null {
  const pieces = text
    .slice(0, 100_000)
    .split(/\s+/)
    .filter((piece) => piece.length <= maxPiece)
    .map((piece) => piece.replace(/^[("'`“<[]+|[)"'`”>\],;:!?.]+$/g, ''))
    .filter((piece) => piece !== '');
  const examples = shapesIn(prompt);
  for (const coarse of [false, true]) {
    const shapes = new Set(examples.map((example) => textShape(example, coarse)));
    const found = pieces.find((piece) => shapes.has(textShape(piece, coarse)));
    if (found !== undefined) return found;
  }
  const kind = kinds.find(({ word }) => word.test(prompt));
  return kind ? (pieces.find((piece) => kind.piece.test(piece)) ?? null) : null;
}

/** The prompt's examples of an answer: quoted after `like`, `such as` and similar words. */
function shapesIn(prompt: string): string[] {
  const examples: string[] = [];
  for (const match of prompt.slice(0, 200_000).matchAll(likeExample)) {
    examples.push(match[1]!);
    let end = match.index + match[0].length;
    for (let next = moreExamples.exec(prompt.slice(end, end + 100)); next;) {
      examples.push(next[1]!);
      end += next[0].length;
      next = moreExamples.exec(prompt.slice(end, end + 100));
    }
  }
  return examples;
}

/** `AB-12` is `AA-99`; coarse, with runs collapsed: `A-9`. */
function textShape(piece: string, coarse: boolean): string {
  const shape = piece
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{Ll}/gu, 'a')
    .replace(/\p{N}/gu, '9');
  return coarse ? shape.replace(/([Aa9])\1+/g, '$1') : shape;
}
