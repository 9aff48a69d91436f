/**
 * Finds the labels that a request offers, and mentions of them in a text. Formats: a heading with a
 * list (`Labels: a, b`, bullets, a JSON array), and `one of: a, b`.
 */

const maxLabels = 500;
const maxLabelLength = 60;
const heading =
  /\b(?:labels?|categor(?:y|ies)|class(?:es)?|intents?|queues?|options?|choices?|topics?|teams?|tags?|departments?|one of(?: the following| these)?)\b[^:.\n]{0,60}:/i;
/** Separators between a label and its description. */
const explained = /:|\s[-–=]\s/;
const bullet = /^\s*(?:[-*•]|\d{1,3}[.)])\s+/;

/** Labels in the given order, and the text without their list. */
export interface OfferedLabels {
  labels: string[];
  rest: string;
}

interface List {
  items: string[];
  /** Position of the list: its first line from character `cut` on, and `below` further lines. */
  line: number;
  cut: number;
  below: number;
}

/** Reads the longest list of at least two labels; a shorter one may be in the message. */
export function offeredLabels(text: string): OfferedLabels {
  const lines = text.split(/\r?\n/);
  let longest: List | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const list = listAt(lines, at);
    if (!list) continue;
    at += list.below;
    if (list.items.length > (longest?.items.length ?? 1)) longest = list;
  }
  if (!longest) return { labels: [], rest: text };
  const { items, line, cut, below } = longest;
  // Keep bullets that explain their label: they are guidance too.
  const explanations = lines.slice(line + 1, line + 1 + below).filter((own) => explained.test(own.replace(bullet, '')));
  const rest = [...lines.slice(0, line), lines[line]!.slice(0, cut), ...explanations, ...lines.slice(line + 1 + below)];
  return { labels: [...new Set(items)].slice(0, maxLabels), rest: rest.join('\n') };
}

function listAt(lines: string[], line: number): List | null {
  const match = heading.exec(lines[line]!);
  if (!match) return null;
  const tail = lines[line]!.slice(match.index + match[0].length).trim();
  if (tail !== '') return { items: inlineItems(tail), line, cut: match.index, below: 0 };
  const { items, below } = itemsBelow(lines, line + 1);
  return { items, line, cut: match.index, below };
}

function inlineItems(tail: string): string[] {
  const list = tail.replace(/[.。]\s*$|^\[|\]\.?$/g, '');
  const separator = ['|', ';', ','].find((sign) => list.includes(sign));
  if (!separator) return [];
  const items = list.split(separator).map((item) => cleanItem(item.replace(/^\s*(?:or|and)\s+/i, '')));
  return items.every((item) => item !== null) ? (items as string[]) : [];
}

function itemsBelow(lines: string[], from: number): { items: string[]; below: number } {
  const items: string[] = [];
  let at = from;
  for (; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.trim() === '' && items.length === 0) continue;
    const own = line.replace(bullet, '');
    const item = cleanItem(bullet.test(line) ? own.split(explained, 1)[0]! : own);
    if (item === null) break;
    items.push(item);
  }
  return { items, below: at - from };
}

/** A label has at most four words, without quotes and Markdown. */
function cleanItem(raw: string): string | null {
  if (raw.length > 2 * maxLabelLength) return null;
  const item = raw
    .trim()
    .replace(/^[`"'*[(“]+/, '')
    .replace(/(?<![`"'*\]),.”])[`"'*\]),.”]+$/, '');
  return item === '' || item.length > maxLabelLength || /[:`"]/.test(item) || item.split(/\s+/).length > 4
    ? null
    : item;
}

/** A mention of a label: the text from `start` to `end`. */
export interface Mention {
  label: string;
  start: number;
  end: number;
}

/** Finds label mentions in one pass, the longest label first. Build it once per list of labels. */
export function mentionFinder(labels: readonly string[]): (text: string) => Mention[] {
  const byName = new Map(labels.slice(0, maxLabels).map((label) => [label.toLowerCase(), label]));
  const names = [...byName.keys()].sort((a, b) => b.length - a.length);
  if (names.length === 0) return () => [];
  const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${escaped.join('|')})(?![\\p{L}\\p{N}_])`, 'giu');
  return (text) =>
    [...text.matchAll(pattern)].flatMap(({ 0: name, index }) => {
      const label = byName.get(name.toLowerCase());
      const mention = label !== undefined && { label, start: index, end: index + name.length };
      return mention && isMeant(text, mention) ? [mention] : [];
    });
}

/** A common word is a label only if quoted, at the start of a line, or after `answer` or `->`. */
function isMeant(text: string, { label, start, end }: Mention): boolean {
  if (/[_\d/-]|\p{Ll}\p{Lu}/u.test(label)) return true;
  const before = text.slice(Math.max(0, start - 24), start);
  const after = text.slice(end, end + 3);
  const isQuoted = /[`"'*“[]$/.test(before) && /^[`"'*”\]]/.test(after);
  // `before` has 24 characters at most.
  // eslint-disable-next-line regexp/no-super-linear-move, regexp/no-super-linear-backtracking
  const isHead = /(?:^|\n)\s*(?:[-*•#|]+|\d{1,3}[.)])?\s*$/.test(before) && /^\s*(?:[:=–|]|-|$)/.test(after);
  const isAnswer = /(?:->|=>|→|\b(?:answer|label|use|choose|pick|class|category|queue|is|as)\b:?)\s*$/i.test(before);
  return isQuoted || isHead || isAnswer;
}
