/**
 * Reads a prompt's guidance about labels: a line that names a label gives it the other words in it,
 * a line that names several gives each the words behind it. `- late: above all delayed; often
 * parcel` also sets their strengths.
 */
import { isCommon, stem, splitWords } from './words.js';
import type { Mention } from './labels.js';

/** Cues by label: stem, original word, and strength. */
export type Guidance = Map<string, Map<string, Cue>>;
export interface Cue {
  word: string;
  weight: number;
}

/** Strength of the words after each of these words, until the next; `plain` before the first. */
export const emphasis = { 'above all': 4, mostly: 3, often: 2, also: 1 } as const;
const plainWeight = 2;
const marker = /\b(above all|mostly|often|also)\b/i;

const maxPromptLength = 200_000;

/** Reads a prompt's guidance from label mentions, in at most 200,000 characters. */
export function readGuidance(prompt: string, mentionsIn: (text: string) => Mention[]): Guidance {
  const guidance: Guidance = new Map();
  for (const line of prompt.slice(0, maxPromptLength).split('\n')) {
    const mentions = mentionsIn(line);
    for (const [at, { label, start, end }] of mentions.entries()) {
      const before = mentions.length === 1 ? `${line.slice(0, start)} ` : '';
      lend(guidance, label, before + line.slice(end, mentions[at + 1]?.start));
    }
  }
  return guidance;
}

function lend(guidance: Guidance, label: string, text: string): void {
  const cues = guidance.get(label) ?? new Map<string, Cue>();
  guidance.set(label, cues);
  let weight: number = plainWeight;
  // Every second piece is a marker.
  for (const [at, piece] of text.split(marker).entries()) {
    if (at % 2 === 1) {
      weight = emphasis[piece.toLowerCase() as keyof typeof emphasis];
      continue;
    }
    for (const word of splitWords(piece).filter((word) => !isCommon(word))) {
      const key = stem(word);
      const known = cues.get(key);
      if (!known || weight > known.weight) cues.set(key, { word: known?.word ?? word, weight });
    }
  }
}
