/**
 * Reads a prompt's guidance about labels: a line, sentence or section that names a label gives it
 * the other words in it. `- late: above all delayed; often parcel` also sets their strengths.
 */
import { isCommon, stem, splitWords } from './words.js';
import type { Mention } from './labels.js';

/** Cues by label: stem, original word, and strength (below 0: against the label). */
export type Guidance = Map<string, Map<string, Cue>>;
export interface Cue {
  word: string;
  weight: number;
}

/** Strength of the words after each of these words, until the next; `plain` before the first. */
export const emphasis = { 'above all': 4, mostly: 3, often: 2, also: 1 } as const;
const plainWeight = 2;
const againstWeight = -1;
const marker =
  /\b(?:above all|mainly|especially|mostly|often|usually|also|sometimes|perhaps|but not|not (?:when|if|about|for)|never (?:when|if|for)|except|rather than|instead of|unlike)\b/gi;

const maxPromptLength = 200_000;

/** Reads a prompt's guidance from label mentions, in at most 200,000 characters. */
export function readGuidance(prompt: string, mentionsIn: (text: string) => Mention[]): Guidance {
  const guidance: Guidance = new Map();
  let section: string | null = null;
  for (const line of prompt.slice(0, maxPromptLength).split(/\r?\n/)) {
    const mentions = mentionsIn(line).filter((mention) => !isContrast(line, mention));
    if (mentions.length === 0) {
      if (line.trim() === '') section = null;
      else if (section !== null) lend(guidance, section, line);
      continue;
    }
    section = null;
    if (mentions.length === 1) {
      const words = without(line, mentions[0]!);
      if (isHeading(line, words)) section = mentions[0]!.label;
      lend(guidance, mentions[0]!.label, words);
    } else {
      for (const sentence of splitSentences(line, mentions)) shareOut(guidance, sentence.text, sentence.mentions);
    }
  }
  return guidance;
}

/** `not x`, `rather than x`: mentions a label to exclude it. */
function isContrast(line: string, { start }: Mention): boolean {
  return /\b(?:not|than|instead of|unlike|confuse with|never)\s+[`"'*]*$/i.test(
    line.slice(Math.max(0, start - 24), start),
  );
}

function isHeading(line: string, words: string): boolean {
  return splitWords(words).every(isCommon) || /^\s*#/.test(line);
}

function without(line: string, { start, end }: Mention): string {
  return `${line.slice(0, start)} ${line.slice(end)}`;
}

interface Sentence {
  text: string;
  mentions: Mention[];
}

function splitSentences(line: string, mentions: Mention[]): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  let next = 0;
  for (const { index, 0: sign } of [...line.matchAll(/[.;!?](?:\s|$)/g), { index: line.length, 0: '' }]) {
    const end = index + sign.length;
    const own: Mention[] = [];
    for (; next < mentions.length && mentions[next]!.end <= end; next += 1) {
      const { label, start: from, end: to } = mentions[next]!;
      own.push({ label, start: from - start, end: to - start });
    }
    if (own.length > 0) sentences.push({ text: line.slice(start, end), mentions: own });
    start = end;
  }
  return sentences;
}

/**
 * Several labels in a sentence: each gets the words after it if the sentence starts with a label,
 * else the words before it.
 */
function shareOut(guidance: Guidance, text: string, mentions: Mention[]): void {
  const leading = splitWords(text.slice(0, mentions[0]!.start)).every(isCommon);
  for (const [at, { label, start, end }] of mentions.entries()) {
    const from = leading ? end : (mentions[at - 1]?.end ?? 0);
    const to = leading ? (mentions[at + 1]?.start ?? text.length) : start;
    lend(guidance, label, mentions.length === 1 ? without(text, mentions[0]!) : text.slice(from, to));
  }
}

function lend(guidance: Guidance, label: string, text: string): void {
  const cues = guidance.get(label) ?? new Map<string, Cue>();
  guidance.set(label, cues);
  let weight = plainWeight;
  let from = 0;
  for (const match of [...text.matchAll(marker), null]) {
    for (const word of splitWords(text.slice(from, match?.index ?? text.length))) {
      if (isCommon(word)) continue;
      const key = stem(word);
      const known = cues.get(key);
      if (!known || weight < 0 || weight > known.weight) cues.set(key, { word: known?.word ?? word, weight });
    }
    if (!match) return;
    weight = weightAfter(match[0].toLowerCase());
    from = match.index + match[0].length;
  }
}

function weightAfter(marked: string): number {
  if (marked === 'mainly' || marked === 'especially') return emphasis['above all'];
  if (marked === 'usually') return emphasis.often;
  if (marked === 'sometimes' || marked === 'perhaps') return emphasis.also;
  return emphasis[marked as keyof typeof emphasis] ?? againstWeight;
}
