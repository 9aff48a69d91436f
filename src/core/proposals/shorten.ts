import { attribute } from '../prompts/attribution.js';
import type { LineageTexts, Texts } from './components.js';

/**
 * The texts of the last candidate without half of the sentences that it and its ancestors after the
 * first added: `half` 0 is the later one, 1 the earlier one. Null: that half has none.
 */
export function withoutSentences(lineage: readonly LineageTexts[], half: number): Texts | null {
  const [root, last] = [lineage[0], lineage.at(-1)];
  if (root === undefined || last === undefined) return null;
  const segments = Object.keys(last.texts).flatMap((name) =>
    attribute(lineage.map(({ texts, ...own }) => ({ ...own, text: texts[name] ?? '' }))).map((own) => ({
      ...own,
      name,
    })),
  );
  const added = segments.filter(({ candidate, text }) => candidate !== root.candidate && text.trim() !== '');
  const middle = Math.floor(added.length / 2);
  const removed = new Set(half === 0 ? added.slice(middle) : added.slice(0, middle));
  if (removed.size === 0) return null;
  const textOf = (name: string) => {
    const own = segments.filter((segment) => segment.name === name);
    if (!own.some((segment) => removed.has(segment))) return last.texts[name]!;
    return joined(own.map((segment) => ({ text: segment.text, isKept: !removed.has(segment) })));
  };
  const texts = Object.fromEntries(Object.keys(last.texts).map((name) => [name, textOf(name)]));
  return Object.entries(texts).some(([name, text]) => text === '' && last.texts[name] !== '') ? null : texts;
}

const spaceAtEnd = (text: string) => text.slice(text.trimEnd().length);

/** The kept segments; a line ends although its last segment leaves. */
function joined(segments: readonly { text: string; isKept: boolean }[]): string {
  let text = '';
  for (const segment of segments) {
    const ending = spaceAtEnd(segment.text);
    if (segment.isKept) text += segment.text;
    else if (/[\r\n]/.test(ending) && !/[\r\n]/.test(spaceAtEnd(text))) text = text.trimEnd() + ending;
  }
  return text.trim();
}
